/* The evidence of a condition in a dialog: one model at a time. */

async function openEvidence(instrument, condition, model) {
  const opened = await openDialog(instrument, condition);
  if (!opened) return;
  const { head, body, block, place, link } = opened;
  const questions = questionsOf(block, promptsOf(block, place));
  let who = Math.max(0, block.models.indexOf(model));
  let leaf = 0;
  const choice = el("select", {}, ...block.models.map((name, at) => el("option", { value: at, selected: at === who }, name)));
  const search = el("input", { type: "search", autocomplete: "off" });
  const where = el("span", { role: "status" });
  const both = el("div");
  const cards = el("div");
  const back = el("button", { type: "button", class: "plain", onclick: () => { leaf -= 1; renew(); } }, "Previous", whose("prompts"));
  const next = el("button", { type: "button", class: "plain", onclick: () => { leaf += 1; renew(); } }, "Next", whose("prompts"));
  head.append(
    el("p", {}, DATA.titles[instrument] || instrument),
    el("div", { class: "controls" }, el("label", {}, "Model", choice), el("label", {}, "Search the prompts", search)));
  body.append(both, legend(block), cards, el("div", { class: "pager" }, back, next, where));

  function renew() {
    const wanted = search.value.toLowerCase();
    const found = questions.filter((some) => some.some((prompt) => block.prompts[prompt].toLowerCase().includes(wanted)));
    const leaves = Math.max(1, Math.ceil(found.length / ON_A_LEAF));
    leaf = Math.min(Math.max(leaf, 0), leaves - 1);
    const from = leaf * ON_A_LEAF;
    cards.replaceChildren(...found.slice(from, from + ON_A_LEAF).map((some) => questionCard(block, who, some)));
    back.disabled = leaf === 0;
    next.disabled = leaf === leaves - 1;
    where.textContent = found.length
      ? `${block.question ? "Questions" : "Prompts"} ${from + 1}–${Math.min(from + ON_A_LEAF, found.length)} of ${found.length.toLocaleString("en")}`
      : `No prompts of this ${DATA.nouns[instrument] || "condition"}`;
    body.scrollTop = 0;
  }
  function compared() {
    link(block.models[who]);
    both.replaceChildren(...withAndWithout(block, place, who, DATA.nouns[instrument] || "condition"));
  }
  choice.addEventListener("change", () => { who = Number(choice.value); compared(); renew(); });
  search.addEventListener("input", calm(120, () => { leaf = 0; renew(); }));
  compared();
  renew();
}

/** ``where``: the figure in whose numbers the button stands. */
function evidenceButton(instrument, row, where) {
  const about = [instrument, row.model, row.quantity, row.words, row.set, row.wording, where].filter(Boolean);
  return el("button", {
    type: "button", class: "link", onclick: () => openEvidence(instrument, row.condition, row.model),
    "aria-label": `${row.name}: show the evidence (${about.join(", ")})`,
  }, row.name);
}
