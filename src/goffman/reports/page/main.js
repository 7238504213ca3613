/* The page comes to life. */

function startTheme(again) {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
    again();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { name(); again(); });
  name();
}

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
    sort: { key: "name", way: 1 },
    columns: DATA.columns.map(([key, title]) => ({
      key, title, numeric: numeric.has(key), filter: ["instrument", "group", "model"].includes(key),
      cell: key === "name" ? (row) => evidenceButton(row.instrument, row) : null,
    })),
  });
}

document.querySelector(".tools").hidden = false;
startTheme(startFigures());
startConditions();
document.getElementById("print").addEventListener("click", () => { forPaper(); print(); });
addEventListener("beforeprint", forPaper);
matchMedia("print").addEventListener("change", (event) => { if (event.matches) forPaper(); });
document.getElementById("evidence").addEventListener("click", (event) => {
  if (event.target === event.currentTarget) event.currentTarget.close();
});
