// The faults of the demonstration: buttons, and the same keys as in its terminal.

import { h, ids, set } from "./format.js";

const actions = [
  ["split", "x", "Split", (n) => n.length ? `Cut ${ids(n)} off from the others, or join them again` : "Split the group into two halves, or join them again"],
  ["heal", "h", "Heal all", () => "Mend all links"],
  ["cut", "c", "Cut links", (n) => `Cut or mend ${links(n)}`],
  ["slow", "s", "Slow links", (n) => `Slow down or restore ${links(n)}`],
  ["pause", "p", "Pause", (n) => `Pause ${some(n)} as SIGSTOP does, or resume`],
  ["crash", "k", "Crash", (n) => `Crash ${some(n)} as SIGKILL does, or restart`],
  ["resign", "r", "Resign", (n) => n.length ? `Ask ${some(n)} to resign` : "Ask the leaders to resign"],
];
const some = (n) => n.length ? `node${n.length > 1 ? "s" : ""} ${n.join(", ")}` : "the selected nodes";
const links = (n) => n.length === 1 ? `all links of node ${n[0]}` : `the links between ${n.length ? `nodes ${n.join(", ")}` : "the selected nodes"}`;

export class Controls {
  constructor(box, source, graph) {
    this.source = source;
    this.graph = graph;
    this.buttons = new Map();
    box.hidden = false;
    const bar = h("div", { class: "bar", role: "group", "aria-label": "Faults" });
    for (const [action, key, label] of actions) {
      const b = h("button", { type: "button", id: `do-${action}`, class: action === "heal" ? "main" : "", "aria-keyshortcuts": key, onclick: () => this.act(action) }, label, h("kbd", { "aria-hidden": "true" }, key));
      this.buttons.set(action, b);
      bar.append(b);
    }
    this.oneWay = h("input", { type: "checkbox", id: "one-way" });
    this.chosen = h("p", { class: "chosen" });
    this.effect = h("p", { class: "effect", role: "status" });
    box.append(bar, h("div", { class: "under" }, this.chosen, h("label", { for: "one-way" }, this.oneWay, " one way only, from the first node"), this.effect));
    document.addEventListener("keydown", (e) => this.key(e));
    this.select([]);
  }

  // select takes the selected nodes.
  select(list) {
    set(this.chosen, "", list.length ? `Selected: ${list.join(", ")}. Esc selects none.` : "Select nodes with a click or their digit, then choose a fault.");
    for (const [action, , , title] of actions) this.buttons.get(action).title = title(list);
  }

  async act(action) {
    try {
      set(this.effect, "", await this.source.act(action, this.graph.selected, this.oneWay.checked));
    } catch (e) {
      set(this.effect, "", e.message);
    }
  }

  key(e) {
    if (document.querySelector("dialog[open]")) return;
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) && e.target.type !== "checkbox") return;
    const k = e.key.toLowerCase(), found = actions.find((a) => a[1] === k);
    const id = Number(e.key);
    if (found) this.act(found[0]);
    else if (id && this.graph.picture?.byID.has(id)) this.graph.select(this.graph.selected.includes(id) ? this.graph.selected.filter((x) => x !== id) : [...this.graph.selected, id]);
    else if (e.key === "Escape" || e.key === "0") this.graph.select([]);
    else return;
    e.preventDefault();
  }
}
