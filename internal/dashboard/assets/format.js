// Small parts that all others use: durations as text, and elements.

// brief returns a duration in nanoseconds with three digits, as in "82.4 µs".
export function brief(ns) {
  if (ns === null || ns === undefined) return "unknown";
  const abs = Math.abs(ns);
  for (const [size, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
    if (abs >= size) {
      const v = ns / size;
      return `${abs >= 100 * size ? v.toFixed(0) : abs >= 10 * size ? v.toFixed(1) : v.toFixed(2)} ${unit}`;
    }
  }
  return `${Math.round(ns)} ns`;
}

// instant returns a time of the server in milliseconds with a fraction, which Date.parse
// leaves out.
export function instant(time) {
  const fraction = /\.(\d+)Z$/.exec(time);
  return Math.floor(Date.parse(time) / 1000) * 1000 + (fraction ? Number(`0.${fraction[1]}`) * 1000 : 0);
}

// ids returns a list of nodes as text, as in "{1 2 5}".
export const ids = (list) => `{${[...list].sort((a, b) => a - b).join(" ")}}`;

// shortView returns the name of a view without the boot id in it.
export const shortView = (id) => id ? id.split("/")[0] : "";

// tint returns the class that gives the colour of a node, which repeats after nine.
export const tint = (node) => node ? `n${(node - 1) % 9 + 1}` : "n0";

// color returns a colour of the theme.
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// h makes an element: h("p", {class: "note", onclick: f}, "text", child…).
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// s is as h, for SVG.
export function s(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(e, attributes, children) {
  for (const [k, v] of Object.entries(attributes || {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// set changes an attribute, or the text (name ""), only if it differs, so that nothing is
// drawn or read out again without need.
export function set(e, name, value) {
  if (name === "") {
    if (e.textContent !== value) e.textContent = value;
  } else if (value === null || value === false) {
    if (e.hasAttribute(name)) e.removeAttribute(name);
  } else if (e.getAttribute(name) !== String(value)) e.setAttribute(name, value);
}
