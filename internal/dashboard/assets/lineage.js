// The lineage of views: a column for each change, a field for each view in it, and a line
// for each node on its way from view to view.

import { ids, s, shortView, tint } from "./format.js";

const most = 40; // columns
const step = 86, rowHeight = 34, top = 26, left = 34;

export class Lineage {
  constructor(box) {
    this.box = box;
    this.clear();
  }

  clear() {
    this.views = new Map(); // id → {id, leader, members, column}
    this.columns = [];
  }

  // event takes an event; views are known by their ids to all nodes.
  event(e) {
    if (e.kind !== "view-installed" || this.views.has(e.view)) return;
    const v = { id: e.view, leader: Number(e.view.split("@")[1].split("/")[0]), members: e.members.map((m) => m.node), at: e.time,
      from: new Map(e.members.map((m) => [m.node, m.previous || ""])), merged: (e.merged || []).length > 1 };
    this.views.set(v.id, v);
    const last = this.columns.at(-1);
    // Views that have no member in common, and do not follow from each other, are beside
    // each other, as after a split.
    if (last?.every((o) => !o.members.some((m) => v.members.includes(m)) && ![...v.from.values()].includes(o.id))) last.push(v);
    else this.columns.push([v]);
    if (this.columns.length > most) for (const gone of this.columns.shift()) this.views.delete(gone.id);
    this.changed = true;
  }

  draw(p) {
    const fresh = p.nodes.filter((n) => n.known && n.fresh).map((n) => n.view).sort().join();
    if (!this.changed && fresh === this.fresh && p.nodes.length === this.count) return;
    [this.changed, this.fresh, this.count] = [false, fresh, p.nodes.length];
    const rows = new Map(p.nodes.map((n, i) => [n.id, i]));
    for (const c of this.columns) for (const v of c) for (const m of v.members) if (!rows.has(m)) rows.set(m, rows.size);
    const width = left + Math.max(this.columns.length, 1) * step, height = top + rows.size * rowHeight + 8;
    const x = (i) => left + (i + 0.5) * step, y = (node) => top + (rows.get(node) + 0.5) * rowHeight;
    const lines = s("g"), fields = s("g");
    for (const [node, i] of rows) lines.append(s("text", { class: "axis row", x: 8, y: top + (i + 0.5) * rowHeight + 4 }, String(node)));
    const before = new Map(); // node → column
    this.columns.forEach((column, i) => {
      for (const v of column) {
        const list = v.members.map((m) => rows.get(m));
        const [low, high] = [Math.min(...list), Math.max(...list)];
        const now = p.nodes.some((n) => n.known && n.fresh && n.view === v.id);
        fields.append(s("g", { class: `view ${tint(v.leader)} ${now ? "now" : ""}` },
          s("title", {}, `view ${v.id} of ${ids(v.members)}, ${new Date(v.at).toLocaleTimeString()}${v.merged ? "; branches meet" : ""}${now ? "; fresh" : ""}`),
          high > low ? s("line", { class: "spine", x1: x(i), x2: x(i), y1: top + (low + 0.5) * rowHeight, y2: top + (high + 0.5) * rowHeight }) : null,
          v.members.map((m) => s("circle", { class: `stop ${m === v.leader ? "lead" : ""}`, cx: x(i), cy: y(m), r: m === v.leader ? 8 : 6 })),
          s("text", { class: "name", x: x(i), y: top + low * rowHeight - (low ? -3 : 6) }, shortView(v.id))));
        for (const m of v.members) {
          const j = before.get(m);
          if (j !== undefined) {
            lines.append(s("path", { class: `way ${tint(v.leader)} ${i - j > 1 ? "long" : ""}`, d: `M${x(j)} ${y(m)}C${x(j) + step / 2} ${y(m)} ${x(i) - step / 2} ${y(m)} ${x(i)} ${y(m)}` }));
          }
          before.set(m, i);
        }
      }
    });
    const end = this.box.scrollLeft + this.box.clientWidth >= this.box.scrollWidth - step;
    this.box.replaceChildren(s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": this.text() }, lines, fields));
    if (end) this.box.scrollLeft = this.box.scrollWidth;
  }

  text() {
    const last = this.columns.slice(-3).map((c) => c.map((v) => `view ${shortView(v.id)} of ${ids(v.members)}`).join(" and "));
    return last.length ? `The latest views: ${last.join(", then ")}` : "No view yet";
  }
}
