/* The explorer: every condition as a dot and as a row, linked, and the evidence of one of them. */

const SORTS = { largest: "Largest first", smallest: "Smallest first", name: "By name" };
const DOT = 4.6;
const TALLEST = 260;
const MOST_WORDS = 6;

/* What the reader has chosen; `unit` and `model` are places in DATA.explored. */
const CHOSEN = { unit: 0, model: 0, search: "", group: "", sort: "largest", condition: "" };
/* The explorer's elements by name, and what it now shows: rows, their order, their dots. */
const PARTS = {};
const NOW = { rows: [], order: [], width: 0, touched: false };

function unitNow() {
  return DATA.explored[CHOSEN.unit];
}

function numbersNow() {
  return unitNow().models[CHOSEN.model];
}

/** The conditions that the model has a value of, as rows. */
function rowsOf(unit, { values, low, high }) {
  return unit.ids.map((id, at) => ({
    id, name: unit.names[at], group: unit.group[at], category: unit.category[at],
    value: values[at], low: low ? low[at] : null, high: high ? high[at] : null,
  })).filter((row) => row.value !== null);
}

/** A difference with its sign, a value without one; as many decimals as tell rows apart. */
function written(value, axis) {
  const text = value.toFixed(axis.decimals);
  const zero = Number(text) === 0;
  const sign = numbersNow().band === null || value < 0 || zero ? "" : "+";
  return sign + (zero ? text.replace("-", "") : text).replace("-", "−");
}

function excludesZero(row) {
  return row.low !== null && (row.low > 0 || row.high < 0);
}

/** What an interval says, for the panel and for those who hear it. */
function intervalSaid(row) {
  if (numbersNow().failed) return "not measurable: the model failed the control items";
  if (row.low === null) return numbersNow().low ? "not tested" : "";
  return `interval ${written(row.low, NOW.axis)} to ${written(row.high, NOW.axis)}, ${excludesZero(row) ? "excludes" : "includes"} 0`;
}

function about(row) {
  return [unitNow().groups[row.group], row.category === row.name ? "" : row.category, intervalSaid(row)].filter(Boolean);
}

function nameOf(row) {
  return [row.name, written(row.value, NOW.axis), ...about(row)].join(", ");
}

/** From the least to the greatest of the numbers with some room, and the steps of a scale between. */
function axisOf(numbers, steps) {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const span = most - least || Math.abs(most) || 1;
  const rough = span / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
  const [low, high] = [least - 0.03 * span, most + 0.03 * span];
  const ticks = [];
  for (let at = Math.ceil(low / step); at * step <= high; at += 1) ticks.push(at * step);
  return { low, high, ticks, step, decimals: Math.min(6, Math.max(span < 10 ? 3 : 1, 2 - Math.floor(Math.log10(span)))), at: (value) => (value - low) / (high - low) };
}

/** How far each of the dots, given from left to right, is moved up or down so that none lies on another. */
function swarm(xs, radius) {
  const placed = [];
  return xs.map((x) => {
    while (placed.length && x - placed[0].x >= 2 * radius) placed.shift();
    const spots = [0];
    for (const one of placed) {
      const aside = Math.sqrt(Math.max(0, 4 * radius * radius - (x - one.x) ** 2));
      spots.push(one.y - aside, one.y + aside);
    }
    const free = (y) => placed.every((one) => (x - one.x) ** 2 + (y - one.y) ** 2 > 4 * radius * radius - 0.01);
    const y = spots.sort((a, b) => Math.abs(a) - Math.abs(b)).find(free);
    placed.push({ x, y });
    return y;
  });
}

/** The dots of a width: smaller ones where many have nearly the same number. */
function dotsOf(rows, axis, width) {
  const sorted = rows.map((row, at) => ({ at, x: axis.at(row.value) * width })).sort((a, b) => a.x - b.x);
  const xs = sorted.map((dot) => dot.x);
  let radius = width < 520 ? 0.75 * DOT : DOT;
  let ys = swarm(xs, radius);
  while (radius > 1.6 && Math.max(...ys) - Math.min(...ys) > TALLEST) {
    radius *= 0.85;
    ys = swarm(xs, radius);
  }
  sorted.forEach((dot, place) => { dot.y = ys[place]; });
  return { radius, dots: sorted };
}

function drawSwarm() {
  const { width, rows } = NOW;
  if (!width || !rows.length) return;
  const { band } = numbersNow();
  const values = rows.map((row) => row.value);
  const axis = axisOf(band === null ? values : [...values, 0, -band, band], Math.max(5, width / 100));
  const { radius, dots } = dotsOf(rows, axis, width);
  const reach = Math.max(26, ...dots.map((dot) => Math.abs(dot.y))) + radius + 5;
  const [top, middle, bottom] = [20, 20 + reach, 20 + 2 * reach];
  const x = (value) => axis.at(value) * width;
  const ground = shape("g", { "aria-hidden": "true" });
  const line = (name, value) => shape("line", { class: name, x1: x(value), x2: x(value), y1: top, y2: bottom });
  if (band !== null) ground.append(shape("rect", { class: "band", x: x(-band), width: x(band) - x(-band), y: top, height: bottom - top }), line("zero", 0));
  else if (NOW.mean !== null) ground.append(line("mean", NOW.mean));
  for (const tick of axis.ticks.filter((one) => x(one) > 16 && x(one) < width - 16)) {
    const text = shape("text", { class: "tick", x: x(tick), y: bottom + 15 });
    text.textContent = tickText(tick, axis.step);
    ground.append(text);
  }
  const label = shape("text", { class: "here", y: 13, "aria-hidden": "true" });
  const circles = [];
  const drawn = [ground];
  for (const dot of dots) {
    const row = rows[dot.at];
    circles[dot.at] = shape("circle", {
      class: `dot g${row.group}`, cx: dot.x, cy: middle + dot.y, r: radius - 0.3, role: "option",
      "aria-label": nameOf(row), "aria-selected": "false", tabindex: -1, "data-at": dot.at,
    });
    drawn.push(circles[dot.at]);
  }
  PARTS.swarm.setAttribute("viewBox", `0 0 ${width} ${bottom + 20}`);
  PARTS.swarm.setAttribute("height", bottom + 20);
  PARTS.swarm.replaceChildren(...drawn, label);
  Object.assign(NOW, { circles, label, sorted: dots.map((dot) => dot.at) });
  mark();
}

function tickText(value, step) {
  const text = value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  if (Number(text) === 0) return "0";
  return (numbersNow().band !== null && value > 0 ? "+" : "") + text.replace("-", "−");
}

/** The rows of the list, each with its number and interval on a strip. */
function drawList() {
  const { rows, axis } = NOW;
  const percent = (value) => `${(100 * axis.at(value)).toFixed(2)}%`;
  const { band } = numbersNow();
  const [from, line, to] = band === null ? Array(3).fill(NOW.mean) : [-band, 0, band];
  PARTS.list.classList.toggle("banded", line !== null);
  if (line !== null) for (const [name, value] of Object.entries({ from, "line-at": line, to })) PARTS.list.style.setProperty(`--${name}`, percent(value));
  const ticks = el("span", { class: "strip" }, ...axis.ticks.map((tick) => el("b", { style: `left: ${percent(tick)}` }, tickText(tick, axis.step))));
  PARTS.scale = el("div", { class: "row scale", "aria-hidden": "true" }, el("span"), ticks);
  NOW.lines = rows.map((row, at) => {
    const strip = el("span", { class: "strip" });
    if (row.low !== null) {
      const range = el("i", { class: "range" });
      range.style.left = percent(row.low);
      range.style.width = `${(100 * (axis.at(row.high) - axis.at(row.low))).toFixed(2)}%`;
      strip.append(range);
    }
    const point = el("i", { class: row.low !== null && !excludesZero(row) ? "point hollow" : "point" });
    point.style.left = percent(row.value);
    strip.append(point);
    return el("div", {
      class: `row g${row.group}`, role: "option", "aria-label": nameOf(row), "aria-selected": "false", tabindex: -1, "data-at": at,
    }, el("span", { class: "name", title: row.name }, row.name), strip, el("span", { class: "value" }, written(row.value, axis)));
  });
}

/** Which conditions are listed, and in what order. */
function sift() {
  const { rows } = NOW;
  const wanted = CHOSEN.search.toLowerCase().split(/\s+/).filter(Boolean);
  const { groups } = unitNow();
  const text = (row) => `${row.name} ${row.category} ${groups[row.group]}`.toLowerCase();
  const byName = new Intl.Collator("en", { numeric: true });
  const by = {
    largest: (a, b) => rows[b].value - rows[a].value,
    smallest: (a, b) => rows[a].value - rows[b].value,
    name: (a, b) => byName.compare(rows[a].name, rows[b].name),
  }[CHOSEN.sort];
  NOW.order = rows.map((_, at) => at)
    .filter((at) => !CHOSEN.group || groups[rows[at].group] === CHOSEN.group)
    .filter((at) => wanted.every((part) => text(rows[at]).includes(part)))
    .sort(by);
  PARTS.list.replaceChildren(PARTS.scale, ...NOW.order.map((at) => NOW.lines[at]));
  PARTS.list.scrollTop = 0;
  PARTS.status.textContent = `${NOW.order.length < rows.length ? `${NOW.order.length} of ` : ""}${rows.length} ${unitNow().many}`;
}

/** What is listed, selected and pointed at, shown in dots and rows. */
function mark() {
  const listed = new Set(NOW.order);
  const selected = NOW.rows.findIndex((row) => row.id === CHOSEN.condition);
  /* The way by the keyboard leads into dots and list at the condition that is selected. */
  for (const [nodes, order] of [[NOW.circles || [], (NOW.sorted || []).filter((at) => listed.has(at))], [NOW.lines, NOW.order]]) {
    const door = listed.has(selected) ? selected : order[0];
    nodes.forEach((node, at) => {
      node.classList.toggle("off", !listed.has(at));
      node.classList.toggle("selected", at === selected);
      node.setAttribute("aria-selected", String(at === selected));
      node.setAttribute("tabindex", at === door ? 0 : -1);
    });
  }
  point(-1);
}

/** The condition under the pointer or the focus, in both places; −1: none, and the selected one is named. */
function point(at) {
  for (const node of [NOW.circles?.[NOW.pointed], NOW.lines[NOW.pointed]]) node?.classList.remove("at");
  NOW.pointed = at;
  for (const node of [NOW.circles?.[at], NOW.lines[at]]) node?.classList.add("at");
  const named = at >= 0 ? at : NOW.rows.findIndex((row) => row.id === CHOSEN.condition);
  const circle = NOW.circles?.[named];
  if (!NOW.label) return;
  NOW.label.textContent = circle ? NOW.rows[named].name : "";
  if (!circle) return;
  /* Half of what its bold letters take: it stays inside. */
  const half = 0.66 * lengthOf(NOW.rows[named].name);
  NOW.label.setAttribute("x", Math.min(Math.max(Number(circle.getAttribute("cx")), half), Math.max(half, NOW.width - half)));
}

/** The list shows a condition's row, whatever the page shows. */
function bringIntoList(at) {
  const line = NOW.lines[at];
  if (!line.isConnected) return;
  const [top, box] = [line.offsetTop, PARTS.list];
  if (top < box.scrollTop + PARTS.scale.offsetHeight || top + line.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
}

function select(at) {
  CHOSEN.condition = NOW.rows[at].id;
  mark();
  point(at);
  remember();
  showPanel(NOW.rows[at]);
}

/** Dots and rows answer to pointer and keyboard alike; `order` gives the way that the arrows take. */
function listen(box, order, then) {
  const placeOf = (event) => Number(event.target.closest("[data-at]")?.dataset.at ?? -1);
  /* A finger is larger than a dot. */
  const touched = (event) => {
    const at = placeOf(event);
    if (at >= 0 || box === PARTS.list) return at;
    const { left, top } = box.getBoundingClientRect();
    const away = (one) => {
      const { cx, cy } = NOW.circles[one];
      return Math.hypot(cx.baseVal.value + left - event.clientX, cy.baseVal.value + top - event.clientY);
    };
    const nearest = order().reduce((one, other) => (one >= 0 && away(one) <= away(other) ? one : other), -1);
    return nearest >= 0 && away(nearest) < 24 ? nearest : -1;
  };
  const calmly = calm(60, (at) => { if (at >= 0 && at === NOW.pointed) then(at); });
  const pointed = (event) => { const at = placeOf(event); point(at); calmly(at); };
  for (const name of ["pointerover", "focusin"]) box.addEventListener(name, pointed);
  for (const name of ["pointerleave", "focusout"]) box.addEventListener(name, () => point(-1));
  box.addEventListener("click", (event) => { const at = touched(event); if (at >= 0) select(at); });
  box.addEventListener("keydown", (event) => {
    const at = placeOf(event);
    if (at < 0) return;
    const way = order();
    const here = way.indexOf(at);
    const to = {
      ArrowRight: here + 1, ArrowDown: here + 1, ArrowLeft: here - 1, ArrowUp: here - 1,
      PageDown: here + 10, PageUp: here - 10, Home: 0, End: way.length - 1, Enter: here, " ": here,
    }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.key === "Enter" || event.key === " ") select(at);
    const node = (box === PARTS.list ? NOW.lines : NOW.circles)[way[Math.min(Math.max(to, 0), way.length - 1)]];
    for (const one of box.querySelectorAll("[tabindex='0']")) one.setAttribute("tabindex", -1);
    node.setAttribute("tabindex", 0);
    node.focus();
  });
}

/** A prompt that names the condition, the middle one by its number, with what was most probable there. */
function exampleOf(block, model, prompts) {
  const valueOf = (prompt) => block.value[model * block.prompts.length + prompt];
  const answered = prompts.filter((prompt) => block.count[model * block.prompts.length + prompt] > 0);
  answered.sort((a, b) => (valueOf(a) || 0) - (valueOf(b) || 0) || a - b);
  const prompt = answered[Math.floor((answered.length - 1) / 2)];
  if (prompt === undefined) return [];
  const text = block.prompts[prompt];
  const [before, ...after] = text.split("____");
  const rows = answersTo(block, model, prompt);
  /* Beside a reply stand the probabilities of the options, which it is not. */
  const replied = after.length ? undefined : rows.find((row) => row.probability === null);
  const best = replied || rows.reduce((one, other) => ((other.probability ?? 0) > (one.probability ?? 0) ? other : one));
  const answer = best.word || "(empty)";
  if (after.length && best.probability !== null) return [el("p", { class: "sentence" }, "“", before, el("u", {}, answer), after.join("____"), "”")];
  const how = [best.rating === "chosen" ? "" : best.rating, best.probability === null ? "" : shown(best.probability)].filter(Boolean);
  return [
    el("p", { class: "sentence" }, `“${text.split("\n\n")[0]}”`),
    el("p", { class: "answered" }, el("span", { class: "hush" }, "The model: "), "→ ", el("b", {}, answer), how.length ? ` (${how.join(", ")})` : ""),
  ];
}

/** A probability in a column of them. */
function share(size) {
  return size > 0 && size < 0.0005 ? "<0.001" : size.toFixed(3);
}

/** The most frequent answers with the condition and without it, as bars. */
function barsOf(block, place, model, noun) {
  const sides = sidesOf(block, place, model, noun);
  const compared = sides && compareSides(block, sides.own, sides.other, MOST_WORDS);
  if (!compared) return [];
  const what = block.prompts.some((text) => text.includes("____")) ? "words" : "answers";
  const most = Math.max(...compared.words.flatMap((one) => one.of));
  const other = sides.none ? "without" : "with any other";
  return [
    el("p", { class: "which" }, `Most probable ${what}, `, el("b", { class: "own" }, sides.none ? "with" : "with this"), " and ", el("b", {}, other), ` ${sides.none ? "the " : ""}${noun}`),
    el("table", { class: "pairs" }, el("col"), el("col"), el("col"),
      el("thead", { class: "hush" }, el("tr", {}, ...["Answer", "Bars", `${sides.own.called}, ${other}`].map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...compared.words.map(({ word, of, rating, kind }) => el("tr", { class: `is-${kind}` },
        el("th", { scope: "row" }, SIGNS[kind] ? el("span", { class: "sign", title: rating }, SIGNS[kind]) : null, ` ${word}`),
        el("td", { class: "bars", "aria-hidden": "true" }, barOf(of[0], most, "one"), barOf(of[1], most, "two")),
        el("td", { class: "n" }, share(of[0]), el("span", { class: "hush" }, `, ${share(of[1])} ${other}`)))))),
  ];
}

async function showPanel(row) {
  const [unit, { model }, { panel }] = [unitNow(), numbersNow(), PARTS];
  const noun = DATA.nouns[unit.instrument] || "condition";
  const inside = el("div");
  NOW.inside = inside;
  panel.className = `panel g${row.group}`;
  const many = el("span", {}, "Read all prompts");
  const copy = el("a", { href: address() }, "Copy link");
  copy.addEventListener("click", (event) => { event.preventDefault(); copyLink(copy); });
  const all = el("button", { type: "button", class: "link", onclick: () => openEvidence(unit.instrument, row.id, model) }, many, whose(row.name));
  panel.replaceChildren(
    el("h3", {}, row.name), el("p", { class: "about" }, about(row).join(" · ")), inside, el("p", { class: "ways" }, all, " · ", copy));
  /* The evidence is large: it is unpacked for those who come this far. */
  await NOW.inSight;
  let block;
  try {
    block = await blockOf(unit.instrument);
  } catch (error) {
    inside.append(el("p", { class: "note" }, error.message));
    return;
  }
  const [place, who] = [block.conditions.indexOf(row.id), block.models.indexOf(model)];
  if (NOW.inside !== inside) return;
  if (place < 0 || who < 0) {
    inside.append(el("p", { class: "note" }, "This page holds no answers about it."));
    return;
  }
  const prompts = promptsOf(block, place);
  many.textContent = `Read all ${questionsOf(block, prompts).length.toLocaleString("en")} ${block.question ? "questions" : "prompts"}`;
  inside.append(...exampleOf(block, who, prompts), ...barsOf(block, place, who, noun));
}

async function copyLink(link) {
  remember();
  try {
    await navigator.clipboard.writeText(location.href);
    link.textContent = "Link copied";
  } catch {
    link.textContent = "The link is in the address bar";
  }
}

/** What is chosen, as the page's address has it. */
function address() {
  const unit = unitNow();
  const said = { instrument: unit.instrument, ...CHOSEN, number: unit.number, model: numbersNow().model };
  if (DATA.explored.filter((one) => one.instrument === unit.instrument).length < 2) said.number = "";
  if (unit.models.length < 2) said.model = "";
  if (said.sort === "largest") said.sort = "";
  delete said.unit;
  return `#find?${new URLSearchParams(Object.entries(said).filter(([, value]) => value))}`;
}

function remember() {
  NOW.touched = true;
  history.replaceState(null, "", address());
}

/** Choose what the page's address says; what it does not know stays as it is. */
function recall() {
  if (!location.hash.startsWith("#find?")) return false;
  const said = new URLSearchParams(location.hash.slice("#find?".length));
  const units = DATA.explored;
  const own = units.filter((one) => one.instrument === said.get("instrument"));
  const unit = own.find((one) => one.number === said.get("number")) || own[0] || units[0];
  const model = unit.models.findIndex((one) => one.model === said.get("model"));
  Object.assign(CHOSEN, {
    unit: units.indexOf(unit), model: Math.max(0, model), search: said.get("search") || "", group: unit.groups.includes(said.get("group")) ? said.get("group") : "",
    sort: said.get("sort") in SORTS ? said.get("sort") : "largest", condition: said.get("condition") || "",
  });
  NOW.touched = true;
  return true;
}

/** A choice between several; nothing where there is only one. */
function menu(label, options, value, then) {
  if (options.length < 2) return null;
  const node = el("select", { "aria-label": label }, ...options.map(([key, text]) => el("option", { value: key, selected: key === value }, text)));
  node.addEventListener("change", () => { then(node.value); remember(); });
  return node;
}

/** Another instrument, number or model: everything is drawn anew. */
function show(unit, model) {
  const { model: name } = numbersNow();
  const same = DATA.explored[unit].models.findIndex((one) => one.model === name);
  Object.assign(CHOSEN, { unit, model: model ?? Math.max(0, same) });
  if (!unitNow().groups.includes(CHOSEN.group)) CHOSEN.group = "";
  renew();
}

function drawTabs() {
  const instruments = [...new Set(DATA.explored.map((one) => one.instrument))];
  PARTS.tabs.hidden = instruments.length < 2;
  const nodes = instruments.map((name) => {
    const mine = name === unitNow().instrument;
    return el("button", {
      type: "button", role: "tab", "aria-selected": String(mine), "aria-controls": "explored", tabindex: mine ? 0 : -1, title: DATA.titles[name],
      onclick: () => { show(DATA.explored.findIndex((one) => one.instrument === name)); remember(); },
    }, name);
  });
  const focused = PARTS.tabs.contains(document.activeElement);
  PARTS.tabs.replaceChildren(...nodes);
  if (focused) PARTS.tabs.querySelector("[aria-selected='true']").focus();
}

function drawControls() {
  const unit = unitNow();
  const numbers = DATA.explored.map((one, at) => [String(at), one]).filter(([, one]) => one.instrument === unit.instrument);
  const search = el("input", { type: "search", autocomplete: "off", spellcheck: "false", placeholder: `Search all ${unit.many}`, "aria-label": `Search all ${unit.many}`, value: CHOSEN.search });
  search.addEventListener("input", calm(120, () => { CHOSEN.search = search.value; sift(); mark(); remember(); }));
  const focused = PARTS.controls.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
  PARTS.controls.replaceChildren(...[
    search,
    menu("Number", numbers.map(([at, one]) => [at, one.number]), String(CHOSEN.unit), (at) => show(Number(at))),
    menu("Model", unit.models.map((one, at) => [String(at), one.model]), String(CHOSEN.model), (at) => show(CHOSEN.unit, Number(at))),
    menu("Group", [["", "All groups"], ...unit.groups.map((one) => [one, one])], CHOSEN.group, (group) => { CHOSEN.group = group; sift(); mark(); }),
    menu("Sort", Object.entries(SORTS), CHOSEN.sort, (sort) => { CHOSEN.sort = sort; sift(); mark(); }),
  ].filter(Boolean));
  /* Who chose by the keyboard chooses on. */
  if (focused) [...PARTS.controls.children].find((one) => one.getAttribute("aria-label") === focused)?.focus();
}

/** Which color is which group, how many there are of each, and what the axis says. */
function drawLegend() {
  const { groups, ends } = unitNow();
  const { about: what, failed, band } = numbersNow();
  const dashed = band === null && NOW.mean !== null ? `; dashed: mean of the ${groups[unitNow().against]}` : "";
  PARTS.groups.replaceChildren(...groups.map((group, place) => {
    const many = NOW.rows.filter((row) => row.group === place).length;
    return many ? el("span", { class: `key g${place}` }, `■ ${many} ${group}`) : null;
  }).filter(Boolean));
  PARTS.axis.replaceChildren(el("span", {}, `← ${ends[0]}`), el("span", { class: "what" }, what, dashed), el("span", {}, `${ends[1]} →`));
  const hollow = NOW.rows.some((row) => row.low !== null && !excludesZero(row));
  PARTS.key.textContent = `${band === null ? "" : `Shaded: up to ${band}, too small to matter. `}${hollow ? "Hollow: the interval includes 0." : ""}`;
  PARTS.failed.hidden = !failed;
  PARTS.swarm.setAttribute("aria-label", `${what}: each dot is one of ${NOW.rows.length} ${unitNow().many}`);
  PARTS.list.setAttribute("aria-label", what);
}

function renew() {
  const { band } = numbersNow();
  NOW.rows = rowsOf(unitNow(), numbersNow());
  const ends = NOW.rows.flatMap((row) => [row.value, row.low, row.high]).filter((value) => value !== null);
  NOW.axis = axisOf(band === null ? ends : [...ends, 0, -band, band], 4);
  const others = NOW.rows.filter((row) => row.group === unitNow().against);
  NOW.mean = others.length ? others.reduce((sum, row) => sum + row.value, 0) / others.length : null;
  drawTabs();
  drawControls();
  drawLegend();
  drawList();
  sift();
  const wanted = NOW.rows.findIndex((row) => row.id === CHOSEN.condition);
  const at = wanted >= 0 ? wanted : NOW.order[0] ?? 0;
  CHOSEN.condition = NOW.rows[at].id;
  drawSwarm();
  mark();
  if (at === wanted) bringIntoList(at);
  showPanel(NOW.rows[at]);
}

function startExplorer() {
  const host = document.getElementById("conditions");
  if (!DATA.explored.length) {
    host.replaceChildren(el("p", { class: "note" }, "Nothing that was asked has a number."));
    return;
  }
  PARTS.tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "Instruments" });
  PARTS.tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const tabs = [...PARTS.tabs.children];
    tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length].click();
  });
  PARTS.swarm = shape("svg", { class: "swarm", role: "listbox", "aria-orientation": "horizontal" });
  PARTS.list = el("div", { class: "list", role: "listbox" });
  for (const [name, attributes] of Object.entries({ controls: {}, groups: {}, axis: {}, status: { role: "status" }, key: {}, failed: {} })) {
    PARTS[name] = el("div", { class: name, ...attributes });
  }
  PARTS.failed.append("The model failed the control items: its numbers mean nothing here.");
  PARTS.panel = el("aside", { class: "panel", "aria-label": "Evidence" });
  const explored = el("div", { id: "explored", role: "tabpanel", "aria-label": "Explorer" },
    PARTS.failed, PARTS.groups, PARTS.swarm, PARTS.axis,
    el("div", { class: "halves" }, el("div", {}, PARTS.list, el("div", { class: "below" }, PARTS.status, PARTS.key)), PARTS.panel));
  host.replaceChildren(PARTS.tabs, PARTS.controls, explored);
  listen(PARTS.swarm, () => { const listed = new Set(NOW.order); return NOW.sorted.filter((at) => listed.has(at)); }, bringIntoList);
  listen(PARTS.list, () => NOW.order, () => {});
  NOW.inSight = new Promise((resolve) => {
    new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) resolve(); }, { rootMargin: "200px" }).observe(PARTS.panel);
  });
  /* The width is told after the page is laid out: to ask for it would lay it out once more. */
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width === NOW.width) return;
    NOW.width = width;
    drawSwarm();
  }).observe(explored);
  const come = () => { if (recall()) { renew(); document.getElementById("find").scrollIntoView(); } };
  recall();
  renew();
  if (NOW.touched) document.getElementById("find").scrollIntoView();
  addEventListener("hashchange", come);
  document.getElementById("evidence").addEventListener("close", () => { if (NOW.touched) remember(); });
}
