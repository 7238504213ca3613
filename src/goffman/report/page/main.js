/* The report comes to life. */

function startConditions() {
  const rows = DATA.listing.map((values) => {
    const row = { condition: values[0] };
    DATA.columns.forEach(([key], place) => { row[key] = values[place + 1]; });
    return row;
  });
  const numeric = new Set(["value"]);
  makeTable(document.getElementById("conditions"), {
    caption: DATA.noun.heading,
    searchLabel: `Search all ${DATA.noun.many}`,
    rows,
    leaf: 8,
    sort: { key: "name", way: 1 },
    columns: DATA.columns.map(([key, title]) => ({
      key, title, numeric: numeric.has(key), filter: ["instrument", "group", "model"].includes(key),
      cell: key === "name" ? (row) => evidenceButton(row.instrument, row) : null,
    })),
  });
}

startPage();
startConditions();
startLinks();
