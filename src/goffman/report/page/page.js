/* What every page has: the theme, the figures, paper, and a dialog that closes. */

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

/* What is folded on a screen stands open on paper, but for what is said to be too long for it. */
function unfold() {
  for (const one of document.querySelectorAll("details[data-paper]:not([open])")) {
    one.open = true;
    one.dataset.folded = "";
  }
}

function foldAgain() {
  for (const one of document.querySelectorAll("details[data-folded]")) {
    one.open = false;
    delete one.dataset.folded;
  }
}

function startPage() {
  document.querySelector(".tools").hidden = false;
  startTabs();
  startTheme(startFigures());
  document.getElementById("print").addEventListener("click", () => { forPaper(); print(); });
  addEventListener("beforeprint", forPaper);
  addEventListener("afterprint", foldAgain);
  matchMedia("print").addEventListener("change", (event) => { if (event.matches) forPaper(); else foldAgain(); });
  document.getElementById("evidence").addEventListener("click", (event) => {
    if (event.target === event.currentTarget) event.currentTarget.close();
  });
}
