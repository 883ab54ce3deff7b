// The picture of the group: partitions as fields, links, nodes.

import { brief, h, s, set, shortView, tint } from "./format.js";
import { arrow, bend, detour, outline, places, sizes } from "./layout.js";
import { broken, globally, grade, grades, leads, unsure, up } from "./model.js";

const radius = 27;
const room = 2 * radius + 22; // between the middles of neighbours
const longest = 20; // characters of a name in the picture
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Graph {
  // onselect is called with the list of selected nodes, in the order of their selection.
  constructor(box, onselect) {
    this.onselect = onselect;
    this.selected = [];
    this.nodes = new Map();
    this.links = new Map();
    this.fields = [];
    this.box = box;
    this.svg = s("svg", { role: "group", "aria-label": "The group as a picture; the tables below have the same" });
    const defs = s("defs");
    for (const g of Object.keys(grades)) {
      defs.append(s("marker", { id: `tip-${g}`, class: `tip d${g}`, viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 6.5, markerHeight: 6.5, orient: "auto" },
        s("path", { d: "M0 .8L7.2 4L0 7.2Z" })));
    }
    this.svg.append(defs, this.fieldLayer = s("g", { "aria-hidden": "true" }), this.linkLayer = s("g", { "aria-hidden": "true" }),
      this.titleLayer = s("g", { "aria-hidden": "true" }, this.global = s("text", { class: "global", x: 10, y: 20 })), this.nodeLayer = s("g"));
    box.replaceChildren(this.svg);
  }

  // show takes a new picture.
  show(p) {
    this.picture = p;
    const groups = p.partitions.map((q) => q.nodes);
    for (const n of p.nodes) if (!n.partition) groups.push([n.id]);
    groups.sort((a, b) => a[0] - b[0]);
    const size = this.box.clientWidth < 540 ? sizes.narrow : sizes.wide;
    set(this.svg, "viewBox", `0 0 ${size.width} ${size.height}`);
    const to = places(groups, size);
    this.scale = Math.min(1, Math.max(nearest([...to.values()]) / room, 0.15)); // many nodes are small
    this.crowded = this.scale < 0.8;
    this.svg.classList.toggle("crowded", this.crowded);
    for (const n of p.nodes) {
      let e = this.nodes.get(n.id);
      if (!e) {
        e = this.addNode(n.id);
        Object.assign(e, to.get(n.id));
      }
      e.to = to.get(n.id);
      this.dress(e, n, p);
    }
    for (const [id, e] of this.nodes) if (!p.byID.has(id)) { e.g.remove(); this.nodes.delete(id); }
    this.dressLinks(p);
    this.dressFields(p);
    this.move();
  }

  addNode(id) {
    const e = { id };
    const toggle = () => this.select(this.selected.includes(id) ? this.selected.filter((x) => x !== id) : [...this.selected, id]);
    // The ring around all the rest is the button.
    e.button = s("circle", { class: "halo", r: radius + 11, role: "button", tabindex: 0, "aria-pressed": "false", "data-node": id, onclick: toggle,
      onkeydown: (k) => { if (k.key === "Enter" || k.key === " ") { k.preventDefault(); toggle(); } },
      onpointerenter: () => this.hover(id), onpointerleave: () => this.hover(0), onfocus: () => this.hover(id), onblur: () => this.hover(0) });
    e.g = s("g", { class: "node" }, s("g", { "aria-hidden": "true" }, e.ring = s("circle", { class: "ring", r: radius + 5 }),
      e.disc = s("circle", { class: "disc", r: radius }), e.star = s("path", { class: "star", d: star(11), transform: `translate(0 ${-radius - 5})` }),
      e.label = s("text", { class: "id", y: 8 }, String(id)), e.mark = s("text", { class: "mark", y: 8 }),
      e.first = s("text", { class: "sub", y: radius + 22 }), e.second = s("text", { class: "sub second", y: radius + 36 })), e.button);
    this.nodeLayer.append(e.g);
    this.nodes.set(id, e);
    return e;
  }

  // dress makes the node look as its state is.
  dress(e, n, p) {
    const fresh = n.known ? n.fresh : n.inView;
    const name = n.name && n.name !== `node-${n.id}` ? n.name : "", short = name.length > longest ? `${name.slice(0, longest - 1)}…` : name;
    set(e.g, "class", `node ${tint(n.partition ? n.partition.leader : 0)} ${up(n) ? "" : "down"} ${n.state} ${n.known ? "" : "told"}`);
    set(e.ring, "class", `ring ${fresh && up(n) ? "fresh" : "stale"}`);
    set(e.star, "visibility", (n.leads || n.global) && up(n) ? "visible" : "hidden");
    set(e.star, "class", `star ${n.local && !n.global ? "local" : ""}`);
    set(e.mark, "", { crashed: "✕", failed: "✕", silent: "?", deaf: "?", ignored: "≠", unknown: "?", paused: "❚❚" }[n.state] || "");
    set(e.label, "visibility", e.mark.textContent ? "hidden" : "visible");
    const stale = !fresh && up(n) && n.known ? `stale ${n.staleFor ? brief(n.staleFor) : ""}` : "", is = n.cause || n.state;
    set(e.first, "", [short || (e.mark.textContent ? `node ${n.id}` : ""), is === "up" ? "" : is].filter(Boolean).join(n.cause ? ": " : " ") || clock(n));
    set(e.second, "", e.first.textContent === clock(n) ? stale : [clock(n), stale].filter(Boolean).join(" · "));
    set(e.first, "class", `sub ${e.first.textContent === clock(n) && unsure(n) ? "alert" : ""}`);
    set(e.second, "class", `sub second ${stale || e.second.textContent && unsure(n) ? "alert" : ""}`);
    set(e.button, "aria-label", `Node ${n.id}${name ? ` ${name}` : ""}: ${is}, ${n.leads || n.global ? leads(n) : n.leader ? `follows node ${n.leader}` : n.known || up(n) ? "follows nobody" : "whom it follows is not known"}, `
      + (n.known ? `view ${fresh ? "fresh" : "stale"}, clock ${clock(n) || "unknown"}` : `as node ${p.self} knows it`));
  }

  dressLinks(p) {
    const seen = new Set();
    for (const l of p.links) {
      const key = `${l.from}>${l.to}`;
      seen.add(key);
      let e = this.links.get(key);
      if (!e) {
        e = { from: l.from, to: l.to, path: s("path", { class: "link" }), text: s("text", { class: "bound" }) };
        this.linkLayer.append(e.path, e.text);
        this.links.set(key, e);
      }
      const g = grade(l, p.timing?.fast_threshold_ns ?? Infinity);
      const apart = p.byID.get(l.from)?.partition !== p.byID.get(l.to)?.partition;
      set(e.path, "class", `link d${g} ${l.added ? "slowed" : ""} ${apart ? "apart" : ""}`);
      set(e.path, "marker-end", `url(#tip-${g})`);
      set(e.text, "", g === "x" ? broken(l) : g === 0 ? "" : `≤ ${brief(l.bound)}`);
    }
    for (const [key, e] of this.links) if (!seen.has(key)) { e.path.remove(); e.text.remove(); this.links.delete(key); }
    this.mark();
  }

  dressFields(p) {
    // The title of a partition says it of its leader.
    set(this.global, "", p.global && !p.partitions.some((q) => p.byID.get(q.leader).global) ? globally(p) : "");
    while (this.fields.length < p.partitions.length) {
      const f = { area: s("path", { class: "area" }), lines: [s("tspan"), s("tspan")] };
      f.g = s("g", {}, f.area);
      f.title = s("text", {}, ...f.lines);
      this.fields.push(f);
      this.fieldLayer.append(f.g);
      this.titleLayer.append(f.title);
    }
    while (this.fields.length > p.partitions.length) {
      const f = this.fields.pop();
      f.g.remove();
      f.title.remove();
    }
    p.partitions.forEach((q, i) => {
      const f = this.fields[i], lead = p.byID.get(q.leader);
      f.nodes = q.nodes;
      set(f.g, "class", `field ${tint(q.leader)}`);
      set(f.title, "class", `title ${tint(q.leader)}`);
      f.narrow = q.nodes.length === 1 && lead.known; // its title has two lines
      set(f.lines[0], "", `node ${q.leader} ${leads(lead)}${lead.known && !f.narrow ? " · " : ""}`);
      set(f.lines[1], "", lead.known ? `view ${shortView(lead.view) || "none"} ${lead.fresh ? "fresh" : "stale"}` : "");
    });
  }

  // select changes the selection.
  select(list) {
    this.selected = list;
    for (const e of this.nodes.values()) set(e.button, "aria-pressed", String(list.includes(e.id)));
    this.mark();
    this.onselect?.(list);
  }

  hover(id) {
    this.hovered = id;
    this.mark();
  }

  // mark shows the bounds of links at chosen nodes, or of all if there are few.
  mark() {
    const chosen = this.hovered ? [this.hovered] : this.selected;
    for (const e of this.links.values()) {
      const on = chosen.includes(e.from) || chosen.includes(e.to) || !chosen.length && !this.picture?.demo && !this.crowded;
      e.path.classList.toggle("on", on && chosen.length > 0);
      e.path.classList.toggle("off", !on && chosen.length > 0);
      e.text.classList.toggle("on", on);
    }
  }

  // move brings the nodes to their places, in some frames.
  move() {
    if (this.moving) return;
    const step = () => {
      let far = false;
      for (const e of this.nodes.values()) {
        const dx = e.to.x - e.x, dy = e.to.y - e.y;
        const k = still.matches || Math.hypot(dx, dy) < 0.4 ? 1 : 0.14;
        e.x += dx * k;
        e.y += dy * k;
        far ||= k < 1;
      }
      this.draw();
      this.moving = far ? requestAnimationFrame(step) : 0;
    };
    this.moving = requestAnimationFrame(step);
  }

  draw() {
    for (const e of this.nodes.values()) set(e.g, "transform", `translate(${e.x.toFixed(1)} ${e.y.toFixed(1)})${this.scale < 1 ? ` scale(${this.scale.toFixed(3)})` : ""}`);
    for (const l of this.links.values()) {
      const a = this.nodes.get(l.from), b = this.nodes.get(l.to);
      if (!a || !b) continue;
      const ways = [bend, ...this.crowded ? [] : [...this.nodes.values()].map((n) => n === a || n === b ? 0 : detour(a, b, n, this.picture.self))];
      const line = arrow(a, b, (radius + 8) * this.scale, ways.reduce((far, way) => Math.abs(way) > Math.abs(far) ? way : far));
      set(l.path, "d", line.short ? "" : line.d);
      set(l.text, "x", line.x.toFixed(1));
      set(l.text, "y", (line.y + 4).toFixed(1));
    }
    for (const f of this.fields) {
      const points = f.nodes.map((id) => this.nodes.get(id)).filter(Boolean);
      set(f.area, "d", outline(points));
      const x = (points.reduce((sum, p) => sum + p.x, 0) / points.length).toFixed(1);
      const y = Math.max(Math.min(...points.map((p) => p.y)) - 53 * this.scale, 14);
      set(f.lines[0], "x", x);
      set(f.lines[0], "y", (f.narrow ? y - 16 : y).toFixed(1));
      set(f.lines[1], "x", f.narrow ? x : null);
      set(f.lines[1], "y", f.narrow ? y.toFixed(1) : null);
    }
  }
}

const clock = (n) => [n.deviation === null || n.deviation === undefined ? "" : `±${brief(n.deviation)}`, unsure(n) ? "not synchronized" : ""].filter(Boolean).join(", ");

// nearest returns the least distance of two places.
function nearest(list) {
  let least = Infinity;
  list.forEach((a, i) => { for (const b of list.slice(i + 1)) least = Math.min(least, Math.hypot(a.x - b.x, a.y - b.y)); });
  return least;
}

function star(r) {
  const points = [];
  for (let i = 0; i < 10; i++) {
    const angle = Math.PI * i / 5 - Math.PI / 2, d = i % 2 ? r * 0.45 : r;
    points.push(`${(d * Math.cos(angle)).toFixed(2)} ${(d * Math.sin(angle)).toFixed(2)}`);
  }
  return `M${points.join("L")}Z`;
}

// legend fills the list that explains the colours of links and the marks of nodes.
export function legend(list, p) {
  const delta = p.timing ? ` (Δ = ${brief(p.timing.fast_threshold_ns)})` : "";
  const item = (icon, text) => h("li", {}, icon, text);
  const line = (g) => s("svg", { viewBox: "0 0 30 10", width: 30, height: 10, "aria-hidden": "true" }, s("path", { class: `link d${g}`, d: "M2 5H28" }));
  const dot = (kind) => s("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "n0" }, s("circle", { class: `ring ${kind}`, cx: 8, cy: 8, r: 6 }));
  const lone = (mark) => s("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: "n0 node down" }, s("circle", { class: "disc", cx: 8, cy: 8, r: 6.5 }),
    s("text", { class: "mark", x: 8, y: 12 }, mark));
  list.replaceChildren(
    ...[1, 2, 3, 4, "x"].map((g) => item(line(g), (g === 1 ? "proven delay " : "") + grades[g] + (g === 3 ? delta : ""))),
    item(dot("fresh"), "view fresh"), item(dot("stale"), "view stale"),
    ...(p.self ? [item(lone("?"), "not heard in time"), item(lone("≠"), "ignored: settings, keys or clocks differ")] : []),
    ...(p.global ? ["", "local"] : [""]).map((kind) => item(s("svg", { viewBox: "-8 -8 16 16", width: 16, height: 16, "aria-hidden": "true", class: "n0" },
      s("path", { class: `star ${kind}`, d: star(7) })), kind ? "leads locally" : p.global ? "leads globally" : "leads")));
}
