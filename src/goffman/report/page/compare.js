/* The comparison comes to life. */

function startChanges() {
  const rows = DATA.listing.map((values) => {
    const row = { condition: values[0] };
    DATA.columns.forEach(([key], place) => { row[key] = values[place + 1]; });
    return row;
  });
  const numeric = new Set(["before", "after", "change", "p"]);
  makeTable(document.getElementById("conditions"), {
    caption: "All conditions",
    searchLabel: "Search all conditions",
    rows,
    leaf: 8,
    sort: { key: "change", way: -1 },
    columns: DATA.columns.map(([key, title]) => ({
      key, title, numeric: numeric.has(key), filter: ["instrument", "group", "run", "verdict"].includes(key),
      cell: key === "name" ? (row) => evidenceButton(row.instrument, row) : null,
    })),
  });
}

startPage();
startChanges();
startLinks();
