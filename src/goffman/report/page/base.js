"use strict";
/* What the other scripts share. Text only ever becomes text: nothing here makes markup of it. */

const DATA = JSON.parse(document.getElementById("data").textContent);

/** An element with attributes and children; a child that is no element is put in as text. */
function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** A shape of a drawing. */
function shape(name, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

/** The bytes of a packed element; `what` a browser that cannot unpack it is then told. */
async function unpacked(id, what) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(`This browser is too old to show ${what}`);
  }
  const text = document.getElementById(id).textContent;
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** A number as people read it: three significant digits, a real minus. */
function shown(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  if (value === 0 || Number.isInteger(value)) return String(value).replace("-", "−");
  const size = Math.abs(value);
  const text = size >= 0.0001 && size < 1000 ? value.toPrecision(3) : value.toExponential(2);
  return text.replace("-", "−");
}

/** The function, called once nothing has happened for so many milliseconds. */
function calm(wait, then) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => then(...given), wait);
  };
}

function isDark() {
  const given = document.documentElement.dataset.theme;
  return given ? given === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

/** What tells a button from others with the same text, for those who hear it. */
function whose(what) {
  return el("span", { class: "hush" }, `: ${what}`);
}
