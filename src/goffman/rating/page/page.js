"use strict";
// One word at a time. The server decides which one, and has it on disk before the next one comes;
// a key pressed meanwhile is ignored, so that no word is rated unseen. All text from the run is put
// in as text, never as HTML.

const at = (id) => document.getElementById(id);
const settling = document.documentElement.dataset.mode === "settle";
const labels = ["positive", "negative", "neutral", "irrelevant"];
let state = null;
let busy = false;
let noteSaved = "";
let noteOnItsWay = Promise.resolve();

function percent(share) {
  const value = 100 * share;
  if (value <= 0) return "0";
  if (value < 0.01) return "under 0.01";
  // Never rounded up to a whole that is not there.
  const digits = value < 1 || value > 99 ? 2 : 1;
  const cut = Math.floor(value * 10 ** digits) / 10 ** digits;
  return cut.toFixed(value >= 100 ? 0 : digits);
}

function words(count) {
  return count === 1 ? "1 word" : `${count.toLocaleString("en")} words`;
}

function complain(text) {
  at("alert").textContent = text;
  at("alert").hidden = !text;
}

async function ask(path, options) {
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", ...options });
  } catch {
    throw new Error(
      "The last key press was not saved because the server does not answer. Start goffman again in " +
        "the terminal and open the address it prints. Everything before that is saved.",
    );
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(told.error || `The server answered ${answer.status}.`);
  return told;
}

function post(told) {
  return ask("rate", {
    method: "POST",
    // A key pressed just before the tab is closed still arrives.
    keepalive: true,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ run: state.run, ...told }),
  });
}

function unit() {
  const { word, item, wording } = state.entry;
  return { word, item, wording };
}

function showSentences(entry) {
  at("sentences").replaceChildren(
    ...entry.sentences.map(([before, word, after]) => {
      const line = document.createElement("li");
      const mark = document.createElement("mark");
      mark.textContent = word;
      line.append(before, mark, after);
      return line;
    }),
  );
}

function showGiven(entry) {
  labels.forEach((label, index) => {
    const count = entry.given.filter((given) => given === label).length;
    const badge = at(`given-${index + 1}`);
    badge.hidden = count === 0;
    badge.textContent = count === 1 ? "given once" : `given ${count} times`;
    badge.parentElement.classList.toggle("was-given", count > 0);
  });
}

function showEntry(entry) {
  at("word").textContent = entry.shown;
  const where = [entry.item && `item ${entry.item}`, entry.wording && `wording ${entry.wording}`];
  at("context").textContent = where.filter(Boolean).join(", ");
  at("context").hidden = !where.some(Boolean);
  const number = state.total - state.left + 1;
  const times = entry.count === 1 ? "once" : `${entry.count.toLocaleString("en")} times`;
  const filled = entry.count ? ` · filled in ${times}, ${percent(entry.mass)}% of the probability` : "";
  at("place").textContent = `Word ${number} of ${state.total}${filled}`;
  showSentences(entry);
  showGiven(entry);
  if (document.activeElement !== at("note")) {
    at("note").value = entry.note;
    noteSaved = entry.note;
  }
}

function showProgress() {
  const { known, left, beyond } = state.mass;
  const here = Math.max(1 - known - left - beyond, 0);
  const settled = 1 - state.left / (state.total || 1);
  at("bar-known").style.width = settling ? "0" : `${100 * known}%`;
  at("bar-here").style.width = `${100 * (settling ? settled : here)}%`;
  const open = settling ? `${words(state.left)} to settle` : `${words(state.left)} left`;
  const time = state.time ? `, ${state.time}` : "";
  const mass = settling || !state.left ? "" : ` · ${percent(left)}% of the probability`;
  const skipped = state.skipped ? ` · ${state.skipped} skipped` : "";
  at("progress").textContent = open + time + mass + skipped;
}

function showDone() {
  const more = state.words > state.total;
  const list = more ? "Every word on this list is rated." : "Every word is rated.";
  at("done-title").textContent = settling ? "Everything is settled." : list;
  at("done-text").textContent = settling
    ? "The settled ratings are saved. You can close this tab and press Ctrl-C in the terminal."
    : "Your ratings are saved. You can close this tab and press Ctrl-C in the terminal. To compare " +
      "them with another rater's, run goffman agree." +
      (more ? ` To rate all ${words(state.words)} of the run, run goffman rate with --all.` : "");
}

function show(next, said) {
  state = next;
  const entry = state.entry;
  complain("");
  at("work").hidden = !entry;
  at("done").hidden = Boolean(entry);
  at("actions").hidden = false;
  at("skip").hidden = !entry;
  // Not disabled: that would take the focus away from whoever has just pressed it.
  at("undo").setAttribute("aria-disabled", String(!state.undo));
  at("undo-word").textContent = state.undo || "";
  if (entry) showEntry(entry);
  else showDone();
  showProgress();
  const then = entry ? `Now: ${entry.shown}.` : at("done-title").textContent;
  at("status").textContent = said ? `${said} ${then}` : "";
  if (!entry && said) at("done-title").focus();
}

async function alone(work) {
  if (busy || !state) return;
  busy = true;
  document.body.classList.add("saving");
  try {
    await work();
  } catch (error) {
    complain(error.message);
  } finally {
    busy = false;
    document.body.classList.remove("saving");
  }
}

function keepNote() {
  const note = at("note").value;
  if (!state?.entry || note === noteSaved) return noteOnItsWay;
  const told = { do: "note", ...unit(), note };
  noteSaved = note;
  noteOnItsWay = noteOnItsWay
    .catch(() => {})
    .then(() => post(told))
    .catch((error) => {
      noteSaved = null;
      throw error;
    });
  return noteOnItsWay;
}

function keepNoteOrComplain() {
  keepNote().catch((error) => complain(error.message));
}

function act(told, said) {
  return alone(async () => {
    await keepNote();
    const next = await post(told);
    // What stands in the note belongs to the word that has just gone.
    at("note").blur();
    show(next, said);
  });
}

function rate(label) {
  if (state?.entry) act({ do: "rate", ...unit(), label }, `${state.entry.shown} is ${label}: saved.`);
}

function skip() {
  if (state?.entry) act({ do: "skip", ...unit() }, `${state.entry.shown} is skipped for now.`);
}

function undo() {
  if (state?.undo) act({ do: "undo" }, `Undone: ${state.undo}.`);
}

function onKey(event) {
  const typing = event.target === at("note");
  if (typing) {
    if (event.key === "Enter" || event.key === "Escape") at("note").blur();
    return;
  }
  if (!at("keys").checked || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase();
  if ("1234".includes(key) && key.length === 1) rate(labels[Number(key) - 1]);
  else if (key === "u") undo();
  else if (key === "s") skip();
  else if (key === "n" && state?.entry) at("note").focus();
  else return;
  event.preventDefault();
}

let typed;
at("note").addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(keepNoteOrComplain, 300);
});
at("note").addEventListener("blur", () => busy || keepNoteOrComplain());
window.addEventListener("pagehide", keepNoteOrComplain);
for (const button of document.querySelectorAll(".choice")) {
  button.addEventListener("click", () => rate(button.dataset.label));
}
at("undo").addEventListener("click", undo);
at("skip").addEventListener("click", skip);
document.addEventListener("keydown", onKey);

ask("state")
  .then((first) => show(first, ""))
  .catch((error) => complain(error.message));
