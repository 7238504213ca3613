/* Panels become tabs: one is shown, all are reached by the keyboard, and an address opens its own. */

function startTabs() {
  for (const host of document.querySelectorAll(".tabset")) {
    const panels = [...host.querySelectorAll(":scope > .tabbed")];
    const of = host.closest("section").id.replace("i-", "");
    const list = el("div", { role: "tablist", "aria-label": of });
    const tabs = panels.map((panel) => el("button", {
      type: "button", role: "tab", id: `tab-${panel.id}`, "aria-controls": panel.id,
      "aria-label": `${panel.dataset.tab}: ${of}`,
      onclick: () => showTab(panel),
      onkeydown: (event) => {
        const at = panels.indexOf(panel);
        const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const next = panels.at(to % panels.length);
        showTab(next);
        document.getElementById(`tab-${next.id}`).focus();
      },
    }, panel.dataset.tab));
    for (const panel of panels) {
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", `tab-${panel.id}`);
      panel.removeAttribute("aria-label");
      panel.tabIndex = 0;
    }
    list.append(...tabs);
    host.prepend(list);
    showTab(panels[0]);
  }
  addEventListener("hashchange", reveal);
  reveal();
}

/** This panel of its tabs is shown, and no other. */
function showTab(panel) {
  for (const other of panel.parentElement.querySelectorAll(":scope > .tabbed")) {
    const shown = other === panel;
    other.hidden = !shown;
    const tab = document.getElementById(`tab-${other.id}`);
    tab.setAttribute("aria-selected", String(shown));
    tab.tabIndex = shown ? 0 : -1;
  }
}

/** What the address names is opened, with all that it lies in. */
function reveal() {
  const named = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (!named) return;
  const panel = named.closest(".tabbed");
  if (panel) showTab(panel);
  for (let one = named.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
  named.scrollIntoView();
}
