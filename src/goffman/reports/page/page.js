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

function startPage() {
  document.querySelector(".tools").hidden = false;
  startTheme(startFigures());
  document.getElementById("print").addEventListener("click", () => { forPaper(); print(); });
  addEventListener("beforeprint", forPaper);
  matchMedia("print").addEventListener("change", (event) => { if (event.matches) forPaper(); });
  document.getElementById("evidence").addEventListener("click", (event) => {
    if (event.target === event.currentTarget) event.currentTarget.close();
  });
}
