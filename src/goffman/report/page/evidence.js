/* From a condition to its prompts, and to what was answered. */

const BLOCKS = new Map();
const PHRASES = 1000; /* Ranks above are those of phrases. */
const NO_PROBABILITY = 65535;
const ON_A_LEAF = 12;
const ALWAYS = new Set(["stereotype", "against it"]); /* The number is made from these. */
const SIGNS = {
  positive: "+", negative: "−", neutral: "=", irrelevant: "·", unrated: "?", chosen: "✓",
  female: "●", male: "■", nonbinary: "◆", unlisted: "·", below: "○", correct: "✓", incorrect: "✗", unsure: "?",
  stereotype: "●", against: "■",
};

/** The evidence of an instrument, unpacked on first use. */
function blockOf(instrument) {
  if (!BLOCKS.has(instrument)) BLOCKS.set(instrument, unpack(DATA.evidence.indexOf(instrument)));
  return BLOCKS.get(instrument);
}

/** The dialog with its title, opened, and the evidence that it is about; null: that cannot be read, and it says why. */
async function openDialog(instrument, condition) {
  const dialog = document.getElementById("evidence");
  const close = el("button", { type: "button", class: "plain close", onclick: () => dialog.close() }, "Close");
  const title = el("h2", { id: "evidence-title" }, "Evidence");
  const here = el("a", { class: "here" }, "Link to this evidence");
  const head = el("div", { class: "dialog-head" }, title, close);
  const body = el("div", { class: "dialog-body", tabindex: "0" });
  dialog.replaceChildren(head, body);
  if (!dialog.open) dialog.showModal();
  let block;
  try {
    block = await blockOf(instrument);
  } catch (error) {
    body.append(el("p", {}, error.message));
    return null;
  }
  const place = block.conditions.indexOf(condition);
  title.textContent = place < 0 ? condition : block.names[place];
  /* The address of what is shown, also in the browser's own line. */
  const link = (of) => {
    here.href = linkTo(instrument, condition, of);
    history.replaceState(null, "", here.href);
    if (!here.isConnected) head.append(here);
  };
  return { head, body, block, place, link };
}

/** ``of``: the model or the run whose answers are read first. */
function linkTo(instrument, condition, of) {
  return `#evidence=${[instrument, condition, of].filter(Boolean).map(encodeURIComponent).join("/")}`;
}

/** The evidence that the page's address names, if it names any. */
function openLinked() {
  const found = /^#evidence=([^/]+)\/([^/]+)(?:\/([^/]+))?$/.exec(location.hash);
  if (!found) return;
  let parts;
  try {
    parts = found.slice(1).map((part) => part && decodeURIComponent(part));
  } catch {
    return; /* An address that was cut short names nothing. */
  }
  if (DATA.evidence.includes(parts[0])) openEvidence(...parts);
}

function startLinks() {
  document.getElementById("evidence").addEventListener("close", () => {
    history.replaceState(null, "", location.href.split("#")[0]);
  });
  addEventListener("hashchange", openLinked);
  openLinked();
}

async function unpack(place) {
  const buffer = await unpacked(`evidence-${place}`, "the evidence. Use a browser from 2023 or later, or read answers/ in the run's folder.");
  const length = new DataView(buffer).getUint32(0, true);
  const block = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const kinds = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array };
  for (const [name, [offset, count, kind]] of Object.entries(block.arrays)) {
    block[name] = new kinds[kind](buffer, 4 + length + offset, count);
  }
  block.start = new Uint32Array(block.count.length + 1);
  block.count.forEach((count, at) => { block.start[at + 1] = block.start[at] + count; });
  return block;
}

/** Three digits as they were packed. */
function probability(code) {
  if (code === NO_PROBABILITY) return null;
  const times = Math.floor(code / 900);
  return Number(`${(code % 900) + 100}e${-times - 2}`);
}

/** What a model answered to a prompt. */
function answersTo(block, model, prompt) {
  const cell = model * block.prompts.length + prompt;
  const rows = [];
  for (let at = block.start[cell]; at < block.start[cell + 1]; at += 1) {
    rows.push({
      rank: block.rank[at], word: block.words[block.word[at]],
      probability: probability(block.probability[at]), rating: block.labels[block.label[at]],
    });
  }
  return rows;
}

function chip(row) {
  const kind = row.rating.split(" ")[0];
  return el("li", { class: `is-${/^[a-z]+$/.test(kind) ? kind : "other"}`, title: row.rating || null },
    SIGNS[kind] ? el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[kind]) : null,
    el("span", { class: "w" }, row.word || "(empty)"),
    row.probability === null ? null : el("span", { class: "p" }, shown(row.probability)),
    row.rating ? el("span", { class: "hush" }, ` ${row.rating}`) : null);
}

/** A sentence with its blank marked. */
function sentence(text) {
  const parts = text.split("____");
  return el("p", { class: "sentence" }, ...parts.flatMap((part, place) =>
    place ? [el("span", { class: "blank" }, "____"), part] : [part]));
}

function promptCard(block, model, prompt) {
  const rows = answersTo(block, model, prompt);
  const words = rows.filter((row) => row.rank <= PHRASES);
  const phrases = rows.filter((row) => row.rank > PHRASES);
  const value = block.value[model * block.prompts.length + prompt];
  /* Where there is one wording only, its name says nothing. */
  const wording = block.wordings.length > 1 ? block.wordings[block.wording[prompt]] : "";
  const where = [wording, block.items[block.item[prompt]]].filter(Boolean);
  if (!Number.isNaN(value)) where.push(`${block.quantity} ${shown(value)}`);
  const rest = el("div", { hidden: true });
  const more = el("button", { type: "button", class: "link", "aria-expanded": "false" },
    `Show all ${rows.length.toLocaleString("en")} as a table`, whose(block.prompts[prompt]));
  more.addEventListener("click", () => {
    rest.hidden = !rest.hidden;
    more.setAttribute("aria-expanded", String(!rest.hidden));
    if (rest.childElementCount) return;
    makeTable(rest, {
      caption: `Answers to: ${block.prompts[prompt]}`,
      columns: [
        { key: "word", title: "Answer" }, { key: "rank", title: "Rank", numeric: true },
        { key: "probability", title: "Probability", numeric: true }, { key: "rating", title: "Rating" },
      ],
      rows: rows.map((row) => ({ ...row, rank: row.rank > PHRASES ? row.rank - PHRASES : row.rank })),
      leaf: 50,
    });
  });
  return el("div", { class: "prompt" },
    sentence(block.prompts[prompt]), el("p", { class: "where" }, where.join(" · ")),
    words.length ? el("ul", { class: "words" }, ...words.filter((row, at) => at < 10 || ALWAYS.has(row.rating)).map(chip)) : el("p", { class: "note" }, "No answer was kept."),
    phrases.length ? el("ul", { class: "words", "aria-label": "Phrases that name a gender" }, ...phrases.slice(0, 6).map(chip)) : null,
    words.length > 10 || phrases.length > 6 ? more : null, rest);
}

/** What was said, or an option; how it was read, or what it counts, stands beside it. */
function readChip(row) {
  return el("li", {},
    el("span", { class: "w" }, row.word || "(empty)"),
    row.probability === null ? null : el("span", { class: "p" }, shown(row.probability)),
    row.rating ? el("span", { class: "p" }, row.rating) : null);
}

/** The name of an order turned round. */
function turned(order) {
  if (order === "forward") return "reversed";
  return order === "reversed" ? "forward" : order.split("-").reverse().join("-");
}

/** The prompts of one question, each order next to itself turned round. */
function sideBySide(block, prompts) {
  const left = [...prompts];
  const found = [];
  while (left.length) {
    const one = left.shift();
    found.push(one);
    const other = left.findIndex((prompt) => block.orders[block.order[prompt]] === turned(block.orders[block.order[one]]));
    if (other >= 0) found.push(...left.splice(other, 1));
  }
  return found;
}

/** A question with options: what is asked once, and below it every order in a column of its own. */
function questionCard(block, model, prompts) {
  if (prompts.length === 1) return promptCard(block, model, prompts[0]);
  const [stem] = block.prompts[prompts[0]].split("\n\n");
  const wording = block.wordings.length > 1 ? block.wordings[block.wording[prompts[0]]] : "";
  const where = [wording, block.items[block.item[prompts[0]]]].filter(Boolean);
  const columns = sideBySide(block, prompts).map((prompt) => {
    const rows = answersTo(block, model, prompt);
    const value = block.value[model * block.prompts.length + prompt];
    return el("div", { class: "order" },
      el("h3", {}, `Order: ${block.orders[block.order[prompt]]}`),
      el("p", { class: "options" }, block.prompts[prompt].slice(stem.length).trim()),
      rows.length ? el("ul", { class: "words" }, ...rows.map(readChip)) : el("p", { class: "note" }, "No answer was kept."),
      Number.isNaN(value) ? null : el("p", { class: "where" }, `${block.quantity} ${shown(value)}`));
  });
  return el("div", { class: "prompt" },
    el("p", { class: "sentence" }, stem), el("p", { class: "where" }, where.join(" · ")),
    el("div", { class: "orders" }, ...columns));
}

/** The prompts of a condition, those together that ask the same question in several orders. */
function questionsOf(block, prompts) {
  const found = new Map();
  for (const prompt of prompts) {
    const key = block.question ? block.question[prompt] : prompt;
    found.set(key, [...(found.get(key) || []), prompt]);
  }
  return [...found.values()];
}

/** What the signs before the words mean, of those that this instrument has. */
function legend(block) {
  const kinds = [...new Set(block.labels.map((label) => label.replace(/ name$/, "")))]
    .filter((label) => SIGNS[label.split(" ")[0]]);
  return el("ul", { class: "words legend", "aria-label": "Symbols" }, ...kinds.map((label) => {
    const kind = label.split(" ")[0];
    return el("li", { class: `is-${kind}` }, el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[kind]), label);
  }));
}

/** The prompts of a condition; one of two that are the same text is left out where it has no number. */
function promptsOf(block, place) {
  const prompts = [];
  const seen = new Set();
  const answered = (prompt) => block.models.some((_, model) => block.count[model * block.prompts.length + prompt] > 0);
  const known = (prompt) => block.models.some((_, model) => !Number.isNaN(block.value[model * block.prompts.length + prompt]));
  block.condition.forEach((one, prompt) => {
    if (one !== place || (seen.has(block.prompts[prompt]) && !known(prompt))) return;
    seen.add(block.prompts[prompt]);
    prompts.push(prompt);
  });
  /* A prompt that no model was asked shows nothing; where none was answered, that is what is shown. */
  return prompts.some(answered) ? prompts.filter(answered) : prompts;
}
