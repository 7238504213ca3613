/* A table that is searched, sorted and leafed through; only one leaf of it is in the page. */

/**
 * columns: {key, title, numeric, filter, cell}; rows: objects; cell(row) may give an element.
 * The first column heads the row.
 */
function makeTable(host, { caption, columns, rows, leaf = 50, searchLabel, sort = null }) {
  const state = { sort, search: "", filters: {}, leaf: 0, rows };
  const status = el("p", { class: "hush", role: "status" });
  const where = el("span");
  const body = el("tbody");
  const heads = columns.map((column) =>
    el("th", { scope: "col", class: column.numeric ? "n" : null },
      el("button", { type: "button", onclick: () => sortBy(column) }, column.title, whose(caption))));
  const controls = el("div", { class: "controls" });
  const back = el("button", { type: "button", class: "plain", onclick: () => turn(-1) }, "Previous", whose(caption));
  const next = el("button", { type: "button", class: "plain", onclick: () => turn(1) }, "Next", whose(caption));

  if (searchLabel) {
    const box = el("input", { type: "search", autocomplete: "off", spellcheck: "false" });
    box.addEventListener("input", calm(120, () => { state.search = box.value; state.leaf = 0; renew(); }));
    controls.append(el("label", {}, searchLabel, box));
  }
  for (const column of columns.filter((one) => one.filter)) {
    const values = [...new Set(rows.map((row) => row[column.key]))].filter((v) => v !== "" && v !== null);
    if (values.length < 2) continue;
    const choice = el("select", {}, el("option", { value: "" }, "All"),
      ...values.map((value) => el("option", { value }, String(value))));
    choice.addEventListener("change", () => { state.filters[column.key] = choice.value; state.leaf = 0; renew(); });
    controls.append(el("label", {}, column.title, choice));
  }
  /* On a narrow page the headings are out of sight, so that there is another way to sort. */
  const sorter = el("select", {}, ...columns.flatMap((column, place) => [
    el("option", { value: `${place} 1` }, `${column.title}, ascending`),
    el("option", { value: `${place} -1` }, `${column.title}, descending`),
  ]));
  sorter.addEventListener("change", () => {
    const [place, way] = sorter.value.split(" ").map(Number);
    state.sort = { key: columns[place].key, way };
    state.leaf = 0;
    renew();
  });
  controls.append(el("label", { class: "sorter" }, "Sort by", sorter));

  function sortBy(column) {
    const same = state.sort && state.sort.key === column.key;
    const first = column.numeric ? -1 : 1;
    state.sort = { key: column.key, way: same ? -state.sort.way : first };
    state.leaf = 0;
    renew();
  }

  function turn(by) {
    state.leaf += by;
    renew();
    /* A button that can no longer be pressed loses the focus; the other one takes it. */
    if (by > 0 && next.disabled) back.focus();
    if (by < 0 && back.disabled) next.focus();
  }

  function chosen() {
    const wanted = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    let found = rows.filter((row) =>
      Object.entries(state.filters).every(([key, value]) => !value || String(row[key]) === value) &&
      wanted.every((part) => columns.some((column) => String(row[column.key] ?? "").toLowerCase().includes(part))));
    if (state.sort) {
      const { key, way } = state.sort;
      const order = new Intl.Collator("en", { numeric: true });
      /* Missing values come last, whichever way. */
      found = [...found].sort((a, b) => {
        const [x, y] = [a[key], b[key]];
        const gone = (v) => v === null || v === undefined || v === "";
        if (gone(x) || gone(y)) return gone(x) - gone(y);
        return way * (typeof x === "number" && typeof y === "number" ? x - y : order.compare(x, y));
      });
    }
    return found;
  }

  function renew() {
    const found = chosen();
    const leaves = Math.max(1, Math.ceil(found.length / leaf));
    state.leaf = Math.min(state.leaf, leaves - 1);
    const from = state.leaf * leaf;
    body.replaceChildren(...found.slice(from, from + leaf).map((row) =>
      el("tr", {}, ...columns.map((column, place) => {
        const content = column.cell ? column.cell(row) : shown(row[column.key]);
        return el(place ? "td" : "th", {
          scope: place ? null : "row", class: column.numeric ? "n" : null, "data-label": column.title,
        }, content);
      }))));
    columns.forEach((column, place) => {
      const mine = state.sort && state.sort.key === column.key;
      heads[place].setAttribute("aria-sort", mine ? (state.sort.way > 0 ? "ascending" : "descending") : "none");
    });
    const upto = Math.min(from + leaf, found.length);
    const said = found.length ? `${from + 1}–${upto} of ${found.length.toLocaleString("en")}` : "Nothing found";
    where.textContent = said;
    status.textContent = said;
    back.disabled = state.leaf === 0;
    next.disabled = state.leaf >= leaves - 1;
  }

  host.replaceChildren(
    controls,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      el("table", { class: "stack" }, el("caption", { class: "hush" }, caption),
        el("thead", {}, el("tr", {}, ...heads)), body)),
    el("div", { class: "pager" }, back, next, where), status);
  renew();
}
