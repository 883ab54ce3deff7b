// Whom each node has followed, in the last two minutes: a lane for each node.

import { brief, instant, s, tint } from "./format.js";

const spans = [20e3, 120e3]; // milliseconds: at first, and at most
const rowHeight = 22, top = 4, left = 26, axis = 20;

export class Lanes {
  // onfresh is called when a node has a fresh view after a time without one.
  constructor(box, onfresh) {
    this.box = box;
    this.onfresh = onfresh;
    this.lanes = new Map(); // node → list of {from, leader, fresh}
  }

  // event takes an event that changes a lane.
  event(e) {
    const at = instant(e.time);
    switch (e.kind) {
      case "following": return this.change(e.node, at, { leader: e.leader || 0 });
      case "elected": return this.change(e.node, at, { leader: e.node });
      case "lead-lost": return this.change(e.node, at, { leader: 0 });
      case "view-fresh": return this.change(e.node, at, { fresh: true });
      case "view-stale": return this.change(e.node, at, { fresh: false });
      case "restarted": return this.change(e.node, at, { leader: 0, fresh: false });
    }
  }

  // sample takes the present state of a node, which is right also where an event is
  // missing: a node that has crashed sends none.
  sample(n, at) {
    const alive = n.state === "up" || n.state === "paused" || n.state === "starting";
    this.change(n.id, at, alive ? { leader: n.leader, fresh: !!n.fresh } : { leader: 0, fresh: false });
  }

  change(node, at, what) {
    let lane = this.lanes.get(node);
    if (!lane) this.lanes.set(node, lane = []);
    const last = lane.at(-1);
    if (last && at < last.from) return; // the state of a sample is newer
    const next = { from: at, leader: last?.leader ?? 0, fresh: last?.fresh ?? false, ...what };
    if (last && last.leader === next.leader && last.fresh === next.fresh) return;
    if (last && !last.fresh && next.fresh) {
      const began = this.without(lane);
      if (began) this.onfresh({ node, at, leader: next.leader, took: at - began.from, unknown: began.unknown });
    }
    lane.push(next);
    while (lane.length > 2 && lane[1].from < Date.now() - 2 * spans[1]) lane.shift();
  }

  // lose takes the time after which nothing is known, until there is an event or a sample.
  lose(at) {
    for (const lane of this.lanes.values()) lane.push({ from: Math.max(at, lane.at(-1).from), leader: 0, fresh: false, unknown: true });
  }

  // without returns since when a lane has no fresh view, if it had one before, and whether
  // something that came since then is unknown.
  without(lane) {
    let i = lane.length - 1;
    while (i > 0 && !lane[i - 1].fresh) i--;
    return i > 0 && { from: lane[i].from, unknown: lane.slice(i).some((piece) => piece.unknown) };
  }

  clear() { this.lanes.clear(); }

  draw(nodes, now) {
    const width = Math.max(this.box.clientWidth, 240), height = top + nodes.length * rowHeight + axis;
    const first = Math.min(now, ...[...this.lanes.values()].map((l) => l[0]?.from ?? now));
    const span = Math.min(Math.max(now - first, spans[0]), spans[1]);
    const x = (t) => left + (width - left - 4) * (1 - (now - t) / span);
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, height, width, role: "img", "aria-label": this.text(nodes, now) });
    for (let t = 0, every = span > 60e3 ? 30e3 : span > 25e3 ? 10e3 : 5e3; t <= span; t += every) {
      svg.append(s("line", { class: "tick", x1: x(now - t), x2: x(now - t), y1: top, y2: height - axis }),
        s("text", { class: "axis", x: x(now - t), y: height - 5, "text-anchor": t === 0 ? "end" : "middle" }, t === 0 ? "now" : `−${t / 1000} s`));
    }
    nodes.forEach((n, i) => {
      const y = top + i * rowHeight;
      svg.append(s("text", { class: "axis row", x: 8, y: y + 15 }, String(n.id)));
      const lane = this.lanes.get(n.id) || [];
      lane.forEach((piece, j) => {
        const from = Math.max(x(piece.from), left), to = x(Math.min(lane[j + 1]?.from ?? now, now));
        if (to < left || piece.leader === 0) return;
        const leads = piece.leader === n.id && to - from > 5; // the edge would hide what is narrow
        svg.append(s("rect", { class: `piece ${tint(piece.leader)} ${leads ? "leads" : ""}`, x: from.toFixed(1), width: Math.max(to - from, 1).toFixed(1),
          y: piece.fresh ? y + 3 : y + 8, height: piece.fresh ? 16 : 6, rx: 2 }));
      });
    });
    this.box.replaceChildren(svg);
  }

  text(nodes, now) {
    return nodes.map((n) => {
      const last = this.lanes.get(n.id)?.at(-1);
      return `node ${n.id} ${last?.leader ? `has followed node ${last.leader} for ${brief((now - last.from) * 1e6)}` : "follows nobody"}`;
    }).join(", ");
  }
}
