/* The evidence of a condition in a dialog: the answers of two runs beside each other. */

/** What one run answered to a prompt, in a column of its own. */
function sideColumn(block, side, prompt) {
  const rows = answersTo(block, side, prompt);
  const words = rows.filter((row) => row.rank <= PHRASES);
  const phrases = rows.filter((row) => row.rank > PHRASES);
  const value = block.value[side * block.prompts.length + prompt];
  const shownWords = words.filter((row, at) => at < 10 || ALWAYS.has(row.rating));
  return el("div", { class: "order" },
    el("h3", {}, block.models[side]),
    Number.isNaN(value) ? null : el("p", { class: "where" }, `${block.quantity} ${shown(value)}`),
    rows.length ? el("ul", { class: "words" }, ...shownWords.map(chip)) : el("p", { class: "note" }, "No answer was kept."),
    phrases.length ? el("ul", { class: "words", "aria-label": "Phrases that name a gender" }, ...phrases.slice(0, 6).map(chip)) : null,
    words.length > shownWords.length ? el("p", { class: "where" }, `The ${shownWords.length} most probable of ${words.length.toLocaleString("en")}`) : null);
}

/** A prompt once, and below it what each of the two runs answered. */
function sidesCard(block, sides, prompt) {
  const wording = block.wordings.length > 1 ? block.wordings[block.wording[prompt]] : "";
  const where = [wording, block.items[block.item[prompt]]].filter(Boolean);
  return el("div", { class: "prompt" },
    sentence(block.prompts[prompt]), el("p", { class: "where" }, where.join(" · ")),
    el("div", { class: "orders" }, ...sides.map((side) => sideColumn(block, side, prompt))));
}

/** How much the number of a prompt differs between two sides; prompts without one come last. */
function changeOf(block, [one, other], prompt) {
  const of = (side) => block.value[side * block.prompts.length + prompt];
  return Math.abs(of(other) - of(one));
}

/** The dialog; ``run``: the later run, by the name that figures and tables have for it. */
async function openEvidence(instrument, condition, run) {
  const opened = await openDialog(instrument, condition);
  if (!opened) return;
  const { head, body, block, place, link } = opened;
  const prompts = promptsOf(block, place);
  const found = block.models.findIndex((name) => run && name.startsWith(`${run}: `));
  const sides = [0, found > 0 ? found : block.models.length - 1];
  let leaf = 0;
  const menus = sides.map((side, which) => {
    const menu = el("select", {}, ...block.models.map((name, at) => el("option", { value: at, selected: at === side }, name)));
    menu.addEventListener("change", () => { sides[which] = Number(menu.value); compared(); renew(); });
    return menu;
  });
  const search = el("input", { type: "search", autocomplete: "off" });
  const where = el("span", { role: "status" });
  const both = el("div");
  const cards = el("div");
  const back = el("button", { type: "button", class: "plain", onclick: () => { leaf -= 1; renew(); } }, "Previous", whose("prompts"));
  const next = el("button", { type: "button", class: "plain", onclick: () => { leaf += 1; renew(); } }, "Next", whose("prompts"));
  head.append(
    el("p", {}, `${DATA.titles[instrument] || instrument}. The prompts that changed most come first.`),
    el("div", { class: "controls" }, el("label", {}, "Search the prompts", search), el("label", {}, "Before", menus[0]), el("label", {}, "After", menus[1])));
  link(run);
  body.append(both, legend(block), cards, el("div", { class: "pager" }, back, next, where));

  function compared() {
    const [before, after] = sides.map((side) => ({ called: block.models[side], model: side, prompts }));
    both.replaceChildren(...paired(block, "What was answered in both runs", before, after));
  }

  function renew() {
    const wanted = search.value.toLowerCase();
    const kept = prompts.filter((prompt) => block.prompts[prompt].toLowerCase().includes(wanted));
    const size = new Map(kept.map((prompt) => [prompt, changeOf(block, sides, prompt)]));
    kept.sort((a, b) => (Number.isNaN(size.get(a)) - Number.isNaN(size.get(b))) || size.get(b) - size.get(a) || a - b);
    const leaves = Math.max(1, Math.ceil(kept.length / ON_A_LEAF));
    leaf = Math.min(Math.max(leaf, 0), leaves - 1);
    const from = leaf * ON_A_LEAF;
    cards.replaceChildren(...kept.slice(from, from + ON_A_LEAF).map((prompt) => sidesCard(block, sides, prompt)));
    back.disabled = leaf === 0;
    next.disabled = leaf === leaves - 1;
    where.textContent = kept.length
      ? `Prompts ${from + 1}–${Math.min(from + ON_A_LEAF, kept.length)} of ${kept.length.toLocaleString("en")}`
      : `No prompts of this ${DATA.nouns[instrument] || "condition"}`;
    body.scrollTop = 0;
  }
  search.addEventListener("input", calm(120, () => { leaf = 0; renew(); }));
  compared();
  renew();
}

/** ``where``: the figure in whose numbers the button stands. */
function evidenceButton(instrument, row, where) {
  const about = [instrument, row.run, where].filter(Boolean);
  return el("button", {
    type: "button", class: "link", onclick: () => openEvidence(instrument, row.condition, row.run),
    "aria-label": `${row.name}: show the answers of both runs (${about.join(", ")})`,
  }, row.name);
}
