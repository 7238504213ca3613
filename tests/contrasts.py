"""How well the words of a page can be told from what is behind them."""

from __future__ import annotations

ENOUGH = 4.5
"""The ratio that WCAG asks of text."""


def faint(tab, elements, *, at_least):
    """Of the elements in sight, of which there are so many, the ratios that are not enough."""
    found = tab.evaluate(CONTRASTS, elements)
    assert len(found) > at_least
    return {text: ratio for text, ratio in found.items() if ratio < ENOUGH}


CONTRASTS = """(chosen) => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = {};
  for (const node of document.querySelectorAll(chosen)) {
    if (!node.innerText || !node.offsetParent || node.disabled) continue;
    const [a, b] = [light(numbers(getComputedStyle(node).color)), light(behind(node))];
    found[node.tagName + " " + node.innerText.slice(0, 40)] =
      (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }
  return found;
}"""
