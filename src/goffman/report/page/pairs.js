/* What was answered on two sides, as bars beside each other: with and without a condition, or in two runs. */

const PAIRS = 10;

/** How much of the answers to a prompt each of them is: its probability, or its share of the replies. */
function sharesOf(block, model, prompt) {
  const rows = answersTo(block, model, prompt).filter((row) => row.rank <= PHRASES);
  /* Replies have no probability; how they were read is what can be counted. */
  const replies = rows.filter((row) => row.probability === null);
  if (!replies.length) return rows.map((row) => [row.word || "(empty)", row.rating, row.probability]);
  return replies.map((row) => [row.rating || row.word || "(empty)", "", 1 / replies.length]);
}

/** The mean of these over prompts; an answer that a prompt does not have counts as 0 there. */
function meanShares(block, { model, prompts }) {
  const found = new Map();
  let asked = 0;
  for (const prompt of prompts) {
    const shares = sharesOf(block, model, prompt);
    if (!shares.length) continue;
    asked += 1;
    for (const [word, rating, share] of shares) {
      const known = found.get(word) || { word, sum: 0, ratings: new Set() };
      known.sum += share;
      known.ratings.add(rating);
      found.set(word, known);
    }
  }
  return { asked, found };
}

/** The most frequent answers on two sides {called, model, prompts}, and how much of each side they are; null where a side is empty. */
function compareSides(block, first, second, most = PAIRS) {
  const sides = [first, second].map((side) => meanShares(block, side));
  if (sides.some((side) => !side.asked)) return null;
  const share = (side, word) => (side.found.get(word)?.sum || 0) / side.asked;
  const words = [...new Set(sides.flatMap((side) => [...side.found.keys()]))]
    .map((word) => ({ word, of: sides.map((side) => share(side, word)) }))
    .sort((a, b) => Math.max(...b.of) - Math.max(...a.of) || (a.word < b.word ? -1 : 1))
    .slice(0, most);
  for (const one of words) {
    const ratings = new Set(sides.flatMap((side) => [...(side.found.get(one.word)?.ratings || [])]));
    one.rating = ratings.size === 1 ? [...ratings][0] : "";
    const kind = one.rating.split(" ")[0];
    one.kind = /^[a-z]+$/.test(kind) ? kind : "other";
  }
  return { asked: sides.map((side) => side.asked), words };
}

/** A bar as long as a part of the largest. */
function barOf(size, most, which) {
  const drawn = el("span", { class: `bar ${which}` });
  drawn.style.width = `${(100 * size) / (most || 1)}%`;
  return drawn;
}

/** The same as a table under a heading; nothing where a side is empty. */
function paired(block, heading, first, second) {
  const compared = compareSides(block, first, second);
  if (!compared) return [];
  const { asked, words } = compared;
  const most = Math.max(...words.flatMap((one) => one.of));
  const row = ({ word, of, rating, kind }) => el("tr", { class: `is-${kind}` },
    el("th", { scope: "row" }, SIGNS[kind] ? el("span", { class: "sign", title: rating }, SIGNS[kind]) : null, ` ${word}`),
    el("td", { class: "bars", "aria-hidden": "true" }, barOf(of[0], most, "one"), barOf(of[1], most, "two")),
    ...of.map((size) => el("td", { class: "n" }, shown(size))));
  const called = [first, second].map((side, at) => el("th", { scope: "col", class: "n" }, el("span", { class: `key ${at ? "two" : "one"}`, "aria-hidden": "true" }), side.called));
  return [el("section", { class: "pairs" },
    el("h3", {}, heading),
    el("table", {}, el("caption", { class: "hush" }, heading),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Answer"), el("td", { "aria-hidden": "true" }), ...called)),
      el("tbody", {}, ...words.map(row))),
    el("p", { class: "where" }, `Means over ${asked[0].toLocaleString("en")} and ${asked[1].toLocaleString("en")} prompts, of the answers that this page holds.`))];
}

/** Two sides of one model's answers: with the condition, and to the same items without it or with any other; null for none. */
function sidesOf(block, place, model, noun) {
  if (place < 0 || place === block.baseline) return null;
  const key = (prompt) => `${block.item[prompt]} ${block.wording[prompt]}`;
  const prompts = { own: [], none: [], other: [] };
  const items = new Set();
  block.condition.forEach((one, prompt) => { if (one === place) { prompts.own.push(prompt); items.add(key(prompt)); } });
  block.condition.forEach((one, prompt) => {
    if (one !== place && items.has(key(prompt))) prompts[one === block.baseline ? "none" : "other"].push(prompt);
  });
  const none = prompts.none.some((prompt) => block.count[model * block.prompts.length + prompt] > 0);
  const own = { called: `With this ${noun}`, model, prompts: prompts.own };
  if (!none) return { own, other: { called: `With any other ${noun}`, model, prompts: prompts.other }, none };
  const named = block.names[block.baseline].replace(/[()]/g, "");
  return { own, other: { called: `${named[0].toUpperCase()}${named.slice(1)}`, model, prompts: prompts.none }, none };
}

function withAndWithout(block, place, model, noun) {
  const sides = sidesOf(block, place, model, noun);
  if (!sides) return [];
  const how = sides.none ? `with and without the ${noun}` : `with this and with any other ${noun}`;
  return paired(block, `What it answered, ${how}`, sides.own, sides.other);
}
