// The answer to "why?": the latest causes of a part of a node, what led to each, and the
// rule by which it followed.

import { h, instant, set } from "./format.js";

export class Why {
  constructor(dialog, source) {
    this.dialog = dialog;
    this.source = source;
    this.title = h("h2", { id: "why-title" });
    this.body = h("div", { class: "why", tabindex: 0, role: "region", "aria-label": "Causes, the latest first" });
    dialog.append(h("div", { class: "head" }, this.title, h("form", { method: "dialog" }, h("button", { class: "quiet", "aria-label": "Close" }, "✕"))), this.body);
    dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); });
  }

  // ask shows why a part of a node is as it is.
  async ask(node, about) {
    const what = Number(about) ? `What node ${node} knows of node ${about}` : `Why the ${about} of node ${node} is as it is`;
    set(this.title, "", what);
    this.body.replaceChildren(h("p", { class: "note" }, "…"));
    if (!this.dialog.open) this.dialog.showModal();
    try {
      this.show(await this.source.why(node, about));
    } catch (e) {
      this.body.replaceChildren(h("p", { class: "bad" }, e.message));
    }
  }

  show(answer) {
    const list = answer.causes.map((c) => h("li", {}, h("p", {}, time(c.event), h("strong", {}, c.event.text)),
      c.because.length ? h("ul", { "aria-label": "because" }, c.because.map((e) => h("li", {}, time(e), e.text))) : null,
      c.rule ? h("p", { class: "rule" }, c.rule) : null));
    this.body.replaceChildren(h("p", { class: "now" }, answer.state), list.length ? h("ol", {}, list) : h("p", { class: "note" }, "Nothing has happened to it yet."));
  }
}

function time(e) {
  const at = new Date(instant(e.time));
  return h("time", { datetime: e.time }, `${at.toLocaleTimeString([], { hour12: false })}.${String(at.getMilliseconds()).padStart(3, "0")} `);
}
