/* Figures are drawn when they come into sight, and again where the width or the theme changes. */

const FIGURES = new Map();
const NARROW = 620;

function specOf(id) {
  return JSON.parse(document.getElementById(`spec-${id}`).textContent);
}

/** The specification for this width and theme; a copy, with the reader's choices in it. */
function fitted(id, width, chosen) {
  const spec = specOf(id);
  const config = structuredClone(DATA.themes[isDark() ? "dark" : "light"]);
  const narrow = width < NARROW;
  let labels = narrow ? Math.max(84, Math.round(width * 0.33)) : config.axisY.minExtent;
  Object.assign(config.axisY, { minExtent: labels, maxExtent: labels, labelLimit: labels - 8 });
  if (narrow) {
    config.axisX.tickCount = 4;
    config.axis.labelFontSize = 10.5;
    config.legend.columns = 1;
    config.legend.labelLimit = width - 60;
  }
  config.padding = 2;
  const inner = spec.facet ? spec.spec : spec;
  const sentences = inner.encoding && inner.encoding.y && inner.encoding.y.axis;
  if (sentences && sentences.labelExpr) {
    if (narrow) {
      /* Shorter lines, and so more of them. */
      const letters = Math.floor((labels - 8) / 5.2);
      const longest = Math.max(...spec.data.values.map((row) => String(row[inner.encoding.y.field]).length));
      inner.height.step = 12 * Math.ceil((1.25 * longest) / letters) + 8;
      inner.encoding.y.axis = { labelExpr: sentences.labelExpr.replace(/\{1,\d+\}/, `{1,${letters}}`) };
    } else {
      labels = sentences.minExtent;
    }
  }
  /* A figure with a number up its side needs less room there. */
  const side = spec.encoding && spec.encoding.y && spec.encoding.y.type === "quantitative" ? 62 : labels;
  for (const view of spec.vconcat || [spec.facet ? spec.spec : spec]) view.width = Math.max(120, width - side - 34);
  for (const param of spec.params || []) if (param.name in chosen) param.value = chosen[param.name];
  return { spec, config };
}

async function draw(id) {
  const figure = FIGURES.get(id);
  const width = Math.floor(figure.host.clientWidth);
  if (!width || (figure.width === width && figure.dark === isDark())) return;
  Object.assign(figure, { width, dark: isDark() });
  const { spec, config } = fitted(id, width, figure.chosen);
  const box = el("div");
  const made = await vegaEmbed(box, spec, {
    mode: "vega-lite", actions: false, renderer: "svg", ast: true, config,
    tooltip: { theme: figure.dark ? "dark" : "light" },
  });
  figure.host.replaceChildren(box);
  figure.host.style.minHeight = "";
  if (figure.view) figure.view.finalize();
  figure.view = made.view;
  for (const param of spec.params || []) {
    made.view.addSignalListener(param.name, (name, value) => { figure.chosen[name] = value; });
  }
  made.view.addEventListener("click", (event, item) => {
    const about = item && item.datum;
    if (about && about.condition) openEvidence(DATA.instruments[id], about.condition, about.model || about.run);
  });
  figure.drawn = true;
}

function showNumbers(id, button, host) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  button.textContent = open ? "Show the numbers" : "Hide the numbers";
  host.hidden = open;
  if (open || host.childElementCount) return;
  const values = specOf(id).data.values;
  const keys = Object.keys(values[0] || {});
  const instrument = DATA.instruments[id];
  const columns = keys.filter((key) => key !== "condition" || !keys.includes("name")).map((key) => ({
    key,
    title: key.replace(/_/g, " "),
    numeric: values.some((row) => typeof row[key] === "number"),
    filter: key === "model" || key === "words" || key === "set" || key === "group",
    cell: key === "name" && keys.includes("condition") ? (row) => evidenceButton(instrument, row) : null,
  }));
  const first = columns.findIndex((one) => one.key === "name");
  if (first > 0) columns.unshift(...columns.splice(first, 1));
  makeTable(host, { caption: "Numbers in this figure", columns, rows: values, leaf: 25, searchLabel: "Search" });
}

async function save(id, kind) {
  await draw(id);
  const { view } = FIGURES.get(id);
  const address = kind === "svg"
    ? URL.createObjectURL(new Blob([await view.toSVG()], { type: "image/svg+xml" }))
    : await view.toImageURL("png", 2);
  el("a", { href: address, download: `${id}.${kind}` }).click();
}

function startFigures() {
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target.dataset.figure);
  }, { rootMargin: "400px" });
  for (const node of document.querySelectorAll("[data-figure]")) {
    const id = node.dataset.figure;
    const still = node.querySelector("noscript");
    FIGURES.set(id, {
      node, host: node.querySelector(".live"), foot: node.querySelector(".figure-foot"),
      still: node.querySelector(".still"), drawing: still.textContent, chosen: {},
    });
    const numbers = node.querySelector("[data-numbers]");
    numbers.addEventListener("click", () => showNumbers(id, numbers, node.querySelector(".numbers")));
    for (const button of node.querySelectorAll("[data-save]")) {
      button.addEventListener("click", () => save(id, button.dataset.save));
    }
    /* From the start: who goes by the keyboard comes to these before the figure is in sight. */
    FIGURES.get(id).foot.hidden = false;
    seen.observe(node);
  }
  const again = calm(150, () => { for (const [id, one] of FIGURES) if (one.drawn) draw(id); });
  addEventListener("resize", again);
  return again;
}

/* On paper stand the drawings that came with the page: they are there whatever was in sight. */
function forPaper() {
  for (const figure of FIGURES.values()) {
    if (figure.still.childElementCount) continue;
    const parsed = new DOMParser().parseFromString(figure.drawing, "image/svg+xml").documentElement;
    parsed.setAttribute("viewBox", parsed.getAttribute("viewBox") || "0 0 660 300");
    parsed.removeAttribute("height");
    figure.still.append(document.importNode(parsed, true));
  }
}
