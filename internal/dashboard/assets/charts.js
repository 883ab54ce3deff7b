// The charts over time, drawn by uPlot.

import { color, h, s } from "./format.js";

const spans = [20, 120]; // seconds: at first, and at most
const most = 900; // points

const axis = (over) => ({ stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), size: 4 },
  font: "11px system-ui, sans-serif", size: 56, gap: 4, ...over });

// Chart is one chart with lines that may come and go. shape(names) returns the series,
// bands and scales of uPlot for the present names of lines.
export class Chart {
  constructor(box, shape) {
    this.box = box;
    this.shape = shape;
    this.names = [];
    this.times = [];
    this.lines = new Map(); // name → values
    new ResizeObserver(() => this.resize()).observe(box);
  }

  // add takes the values at a time: an object of names and values. Times mostly come in
  // their order.
  add(time, values) {
    let i = this.times.length;
    while (i > 0 && this.times[i - 1] > time) i--;
    for (const name of Object.keys(values)) {
      if (!this.lines.has(name)) this.lines.set(name, new Array(this.times.length).fill(null));
    }
    this.times.splice(i, 0, time);
    for (const [name, line] of this.lines) line.splice(i, 0, values[name] ?? null);
    if (this.times.length > most) {
      this.times.shift();
      for (const line of this.lines.values()) line.shift();
    }
  }

  clear() {
    this.times = [];
    this.lines.clear();
  }

  draw(now) {
    this.now = now;
    const names = [...this.lines.keys()].sort();
    if (!this.plot || names.join() !== this.names.join()) this.make(names);
    this.plot.setData([this.times, ...this.names.map((n) => this.lines.get(n))]);
  }

  make(names) {
    this.names = names;
    this.plot?.destroy();
    const { series, bands, y } = this.shape(names);
    this.plot = new uPlot({
      width: Math.max(this.box.clientWidth, 200), height: 190, legend: { show: false }, bands, padding: [8, 28, 0, 0], // the last time is written around its mark
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: { x: { time: true, range: () => [this.now - Math.min(Math.max(this.now - this.times[0], spans[0]), spans[1]), this.now] }, y: y.scale },
      axes: [axis({ size: 26, space: 90, values: (_, ticks) => ticks.map((t) => new Date(t * 1000).toLocaleTimeString([], { hour12: false })) }), axis({ values: y.values })],
      series: [{}, ...series],
    }, [this.times, ...names.map((n) => this.lines.get(n))], this.box);
  }

  // repaint takes the colours of another theme.
  repaint() {
    if (this.plot) this.make(this.names);
  }

  resize() {
    this.plot?.setSize({ width: Math.max(this.box.clientWidth, 200), height: 190 });
  }
}

// withUnit returns what an axis says of its values, in a unit or, for values that would
// be cut off, in the larger one that has a thousand of it.
export const withUnit = (unit, larger) => (_, ticks) => {
  const [by, name] = larger && Math.max(...ticks.map(Math.abs)) >= 5000 ? [1000, larger] : [1, unit];
  return ticks.map((t) => t === null ? "" : `${+(t / by).toPrecision(4)}${name}`);
};

// clocks has the lines "1 high", "1 low" and "1 off" of node 1: its bounds, and its true
// distance where it is known.
export function clocks(names) {
  const series = names.map((name) => {
    const [node, what] = name.split(" ");
    const stroke = color(`--n${(node - 1) % 9 + 1}`);
    return what === "off" ? { stroke, width: 1.6, points: { show: false } } : { stroke: `${stroke}40`, width: 1, points: { show: false } };
  });
  const bands = [];
  names.forEach((name, i) => {
    const low = names.indexOf(name.replace("high", "low"));
    if (name.endsWith("high")) bands.push({ series: [i + 1, low + 1], fill: `${color(`--n${(name.split(" ")[0] - 1) % 9 + 1}`)}1c` });
  });
  return { series, bands, y: { scale: { range: (_, low, high) => [Math.min(low ?? 0, -10) * 1.1, Math.max(high ?? 0, 10) * 1.1] }, values: withUnit(" µs", " ms") } };
}

// changes has a point for each time that a node was without a fresh view: a hollow one in
// "1?" for one of node 1 of which something is unknown.
export function changes(bound) {
  return (names) => ({
    series: names.map((name) => {
      const stroke = color(`--n${(parseInt(name) - 1) % 9 + 1}`);
      return name === "bound" ? { stroke: color("--faint"), width: 1, dash: [5, 4], points: { show: false } }
        : { stroke, width: 0, paths: () => null, points: { show: true, size: 8, width: 2, fill: name.endsWith("?") ? color("--card") : stroke } };
    }),
    bands: [], y: { scale: { range: (_, low, high) => [0, Math.max(high ?? 0, bound() ?? 10) * 1.15] }, values: withUnit(" ms", " s") },
  });
}

// dashes are those of the lines of directions. One is drawn on the other, and both are seen
// where they are equal, also without colours.
const dashes = { received: [], sent: [6, 4] };
const shade = (name) => dashes[name].length ? "--ink" : "--faint";

// rates has a line for each node, or for each direction.
export function rates(names) {
  return {
    series: names.map((name) => ({ stroke: color(dashes[name] ? shade(name) : `--n${(name - 1) % 9 + 1}`), width: 1.6, dash: dashes[name], points: { show: false } })),
    bands: [], y: { scale: { range: (_, low, high) => [0, Math.max(high ?? 0, 5) * 1.1] }, values: withUnit("/s", "k/s") },
  };
}

// directions fills the legend of the lines of directions.
export const directions = (p) => p.replaceChildren(...Object.entries(dashes).map(([name, dash]) => h("span", { class: name },
  s("svg", { width: 30, height: 8, "aria-hidden": "true" }, s("path", { d: "M0 4H30", "stroke-dasharray": dash.join(" ") })), ` ${name} `)));

// reading replaces the text below a chart: a list of [node, text].
export function reading(p, list) {
  const text = list.map(([n, t]) => `${n} ${t}`).join();
  if (p.dataset.was === text) return;
  p.dataset.was = text;
  p.replaceChildren(...list.map(([node, t]) => h("span", {}, node ? h("b", { class: `swatch n${(node - 1) % 9 + 1}` }, String(node)) : "", ` ${t}`)));
}

