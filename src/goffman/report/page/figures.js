/* Figures are drawn while the reader rests, or when they come into sight, and again where the width or the theme changes. */

const FIGURES = new Map();
const NARROW = 620;

/** A figure's specification, each time anew: a large one is packed. */
async function specOf(id) {
  const node = document.getElementById(`spec-${id}`);
  if (node.type === "application/json") return JSON.parse(node.textContent);
  const bytes = await unpacked(node.id, "this figure. Use a browser from 2023 or later, or write the figures as files: goffman export RUN --to figures.");
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** The names of a figure's rows, where these are names. */
function namesOf(view, values) {
  const y = view.encoding && view.encoding.y;
  if (!y || y.type !== "nominal" || (y.axis && y.axis.labelExpr)) return [];
  const field = y.field === "row" ? "name" : y.field;
  return [...new Set(values.map((row) => String(row[field] ?? "")))];
}

const RULER = document.createElement("canvas").getContext("2d");

/** How many pixels a label takes. */
function lengthOf(text) {
  RULER.font = `11px ${DATA.themes.light.font}`;
  return RULER.measureText(text).width;
}

/** Names that are too long for their place stand over several lines: cut off, two could look the same. */
function wrapNames(view, values, room) {
  const names = namesOf(view, values);
  const longest = Math.max(0, ...names.map(lengthOf));
  if (longest <= room) return;
  const letters = Math.floor((room * Math.max(...names.map((name) => name.length))) / longest);
  const { y } = view.encoding;
  y.axis = { ...y.axis, labelLineHeight: 11, labelExpr: `split(trim(replace(datum.label, regexp('(.{1,${letters}})( |$)', 'g'), '$1\\n')), '\\n')` };
  const lines = Math.max(...names.map((name) => name.match(new RegExp(`(.{1,${letters}})( |$)`, "g"))?.length || 1));
  if (view.height && view.height.step) view.height.step = Math.max(view.height.step, 11 * lines + 2);
}

/** The specification for this width and theme, with the reader's choices in it. */
function fitted(spec, width, chosen) {
  const config = structuredClone(DATA.themes[isDark() ? "dark" : "light"]);
  const narrow = width < NARROW;
  const views = spec.vconcat || [spec.facet ? spec.spec : spec];
  /* As much room as the longest name takes, but no more than the figure can spare. */
  const wanted = views.flatMap((view) => namesOf(view, spec.data.values)).map((name) => 18 + lengthOf(name));
  const least = wanted.length ? 84 : config.axisY.minExtent;
  let labels = Math.round(Math.min(width * 0.4, Math.max(least, ...wanted)));
  Object.assign(config.axisY, { minExtent: labels, maxExtent: labels, labelLimit: labels - 8 });
  if (narrow) {
    config.axisX.tickCount = 4;
    config.axis.labelFontSize = 10.5;
    config.legend.columns = 1;
    config.legend.labelLimit = width - 60;
  }
  config.padding = 2;
  for (const view of views) {
    const sentences = view.encoding && view.encoding.y && view.encoding.y.axis;
    if (!sentences || !sentences.labelExpr) continue;
    if (narrow) {
      /* Shorter lines, and so more of them. */
      const letters = Math.floor((labels - 8) / 5.2);
      const longest = Math.max(...spec.data.values.map((row) => String(row[view.encoding.y.field]).length));
      view.height.step = 12 * Math.ceil((1.25 * longest) / letters) + 8;
      view.encoding.y.axis = { labelExpr: sentences.labelExpr.replace(/\{1,\d+\}/, `{1,${letters}}`) };
    } else {
      labels = sentences.minExtent;
    }
  }
  for (const view of views) wrapNames(view, spec.data.values, labels - 16);
  /* A figure with a number up its side needs less room there. */
  const side = spec.encoding && spec.encoding.y && spec.encoding.y.type === "quantitative" ? 62 : labels;
  for (const view of views) view.width = Math.max(120, width - side - 34);
  for (const param of spec.params || []) if (param.name in chosen) param.value = chosen[param.name];
  return { spec, config };
}

async function draw(id) {
  const figure = FIGURES.get(id);
  const width = Math.floor(figure.host.clientWidth);
  if (!width || (figure.width === width && figure.dark === isDark())) return;
  Object.assign(figure, { width, dark: isDark() });
  let given;
  try {
    given = await specOf(id);
  } catch (error) {
    figure.host.replaceChildren(el("p", { class: "note" }, error.message));
    return;
  }
  const { spec, config } = fitted(given, width, figure.chosen);
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
    made.view.addSignalListener(param.name, (name, value) => {
      figure.chosen[name] = value;
      /* Once it is drawn: another choice may have another axis. */
      setTimeout(() => stickAxis(figure), 50);
    });
  }
  made.view.addEventListener("click", (event, item) => {
    const about = item && item.datum;
    if (about && about.condition) openEvidence(DATA.instruments[id], about.condition, about.model || about.run);
  });
  figure.drawn = true;
  stickAxis(figure);
}

/** The numbers below a figure that is taller than the window stay in sight: a copy of them sticks to its edge. */
function stickAxis(figure) {
  figure.host.querySelector(".stuck")?.remove();
  const svg = figure.host.querySelector("svg.marks");
  const axes = svg ? [...svg.querySelectorAll(".role-axis[aria-label^='X-axis']")] : [];
  const whole = svg && svg.getBoundingClientRect();
  figure.host.classList.toggle("tall", axes.length === 1 && whole.height > 0.8 * innerHeight);
  if (!figure.host.classList.contains("tall")) return;
  const [axis] = axes;
  const from = Math.floor(axis.getBoundingClientRect().top - whole.top) - 2;
  const { a, b, c, d, e, f } = axis.getCTM();
  const copy = axis.cloneNode(true);
  copy.removeAttribute("transform");
  const moved = shape("g", { transform: `matrix(${a} ${b} ${c} ${d} ${e} ${f - from})` });
  const picture = shape("svg", { width: whole.width, height: whole.height - from });
  moved.append(copy);
  picture.append(moved);
  const stuck = el("div", { class: "stuck", "aria-hidden": "true" }, picture);
  /* It lies upon what it is a copy of, and leaves that place only to stay in the window. */
  stuck.style.height = `${whole.height - from}px`;
  stuck.style.marginTop = `-${whole.height - from}px`;
  figure.host.append(stuck);
}

/** The button that shows all rows of a figure, or both ends again. */
async function showRows(id, button) {
  const figure = FIGURES.get(id);
  const { few, all } = button.dataset;
  await draw(id);
  const now = (figure.chosen.chosen_rows || few) === few ? all : few;
  does(button, id, `Show ${now === few ? all : few}`);
  await figure.view.signal("chosen_rows", now).runAsync();
  if (now === few) figure.node.scrollIntoView({ block: "nearest" });
}

/** What a button does, in words; its name says to which figure: no two buttons have one name. */
function does(button, id, text) {
  button.textContent = text;
  button.setAttribute("aria-label", `${text}: ${FIGURES.get(id).node.querySelector(".title").textContent} (${id})`);
}

async function showNumbers(id, button, host) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  does(button, id, open ? "Show the numbers" : "Hide the numbers");
  host.hidden = open;
  if (open || host.childElementCount) return;
  const { values } = (await specOf(id)).data;
  const keys = Object.keys(values[0] || {});
  const instrument = DATA.instruments[id];
  const caption = `Numbers in this figure: ${FIGURES.get(id).node.querySelector(".title").textContent} (${id})`;
  const columns = keys.filter((key) => key !== "condition" || !keys.includes("name")).map((key) => ({
    key,
    title: key.replace(/_/g, " "),
    numeric: values.some((row) => typeof row[key] === "number"),
    filter: key === "model" || key === "words" || key === "set" || key === "group",
    cell: key === "name" && keys.includes("condition") ? (row) => evidenceButton(instrument, row, id) : null,
  }));
  const first = columns.findIndex((one) => one.key === "name");
  if (first > 0) columns.unshift(...columns.splice(first, 1));
  makeTable(host, { caption, columns, rows: values, leaf: 25, searchLabel: "Search" });
}

async function save(id, kind) {
  await draw(id);
  const { view } = FIGURES.get(id);
  const address = kind === "svg"
    ? URL.createObjectURL(new Blob([await view.toSVG()], { type: "image/svg+xml" }))
    : await view.toImageURL("png", 2);
  el("a", { href: address, download: `${id}.${kind}` }).click();
}

const resting = window.requestIdleCallback || ((then) => setTimeout(then, 200));

/** One figure after the other, but for those that are folded: who scrolls later waits for none. */
async function drawAhead() {
  for (const [id, figure] of FIGURES) {
    if (figure.drawn || !figure.host.clientWidth) continue;
    await new Promise((then) => resting(then));
    await draw(id);
  }
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
    for (const button of node.querySelectorAll("[data-does]")) does(button, id, button.dataset.does);
    const numbers = node.querySelector("[data-numbers]");
    numbers.addEventListener("click", () => showNumbers(id, numbers, node.querySelector(".numbers")));
    const rows = node.querySelector("[data-few]");
    if (rows) rows.addEventListener("click", () => showRows(id, rows));
    for (const button of node.querySelectorAll("[data-save]")) {
      button.addEventListener("click", () => save(id, button.dataset.save));
    }
    /* From the start: who goes by the keyboard comes to these before the figure is in sight. */
    FIGURES.get(id).foot.hidden = false;
    seen.observe(node);
  }
  const again = calm(150, () => { for (const [id, one] of FIGURES) if (one.drawn) draw(id).then(() => stickAxis(one)); });
  addEventListener("resize", again);
  drawAhead();
  return again;
}

/* On paper stand the drawings that came with the page: they are there whatever was in sight. */
function forPaper() {
  unfold();
  for (const figure of FIGURES.values()) {
    if (figure.still.childElementCount) continue;
    const parsed = new DOMParser().parseFromString(figure.drawing, "image/svg+xml").documentElement;
    const drawing = document.importNode(parsed, true);
    figure.still.append(drawing);
    /* Other letters than those that it was made with may be wider: paper cuts off what lies outside. */
    figure.still.style.display = "block";
    const { x, y, width, height } = drawing.getBBox();
    figure.still.style.display = "";
    const wide = parsed.viewBox.baseVal;
    const from = [Math.min(0, x), Math.min(0, y)];
    const to = [Math.max(wide.width, x + width), Math.max(wide.height, y + height)];
    drawing.setAttribute("viewBox", `${from[0]} ${from[1]} ${to[0] - from[0]} ${to[1] - from[1]}`);
    drawing.setAttribute("width", to[0] - from[0]);
    drawing.removeAttribute("height");
  }
}
