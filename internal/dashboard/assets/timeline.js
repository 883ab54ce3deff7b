// The list of events with their reasons. Events of several nodes about the same change
// become one entry.

import { brief, h, ids, instant, shortView, tint } from "./format.js";

const most = 300; // entries
const together = 150; // milliseconds between events of one change
const shownAtOnce = 120;

const topics = [
  ["leader", "Leaders", ["elected", "lead-lost", "following", "unfit", "global-", "other-quorum", "quorum-change"]],
  ["view", "Views", ["view-"]],
  ["clock", "Clocks", ["clock-"]],
  ["peer", "Peers", ["peer-", "mismatch"]],
  ["fault", "Faults", ["fault"]],
  ["other", "Others", [""]],
];
const topicOf = (kind) => topics.find(([, , prefixes]) => prefixes.some((p) => kind.startsWith(p)))[0];

export class Timeline {
  constructor(list, filter) {
    this.list = list;
    this.entries = [];
    this.off = new Set();
    for (const [name, label] of topics) {
      filter.append(h("button", { type: "button", class: `topic ${name}`, "aria-pressed": "true", onclick: (e) => {
        const on = this.off.has(name);
        on ? this.off.delete(name) : this.off.add(name);
        e.currentTarget.setAttribute("aria-pressed", String(on));
        this.draw();
      } }, label));
    }
  }

  // add takes an event.
  add(e) {
    const at = instant(e.time), topic = topicOf(e.kind);
    const text = textOf(e), key = e.kind.startsWith("clock-") && e.timeline ? `${e.kind} ${e.timeline}` : text;
    for (let i = this.entries.length - 1; i >= 0 && at - this.entries[i].at <= together; i--) {
      const old = this.entries[i];
      if (old.kind === "fault") break; // the events after it are its effects
      if (old.kind !== e.kind) continue;
      if (e.peer && topic === "peer" ? old.nodes.has(e.node) : old.key === key && !old.nodes.has(e.node)) {
        old.nodes.add(e.node);
        if (e.peer) old.peers.add(e.peer);
        old.events.push(e);
        return this.later();
      }
    }
    this.entries.push({ at, kind: e.kind, topic, text, key, nodes: new Set(e.node ? [e.node] : []), peers: new Set(e.peer ? [e.peer] : []), events: [e] });
    if (this.entries.length > most) this.entries.shift();
    this.later();
  }

  clear() {
    this.entries = [];
    this.later();
  }

  // later draws the list soon, once for many events.
  later() {
    this.timer ??= setTimeout(() => { this.timer = undefined; this.draw(); }, 120);
  }

  draw() {
    const shown = condense(this.entries.filter((e) => !this.off.has(e.topic))).slice(-shownAtOnce).reverse();
    const rows = shown.map((e) => {
      const mark = `${e.events.length}/${e.text}`, first = e.first;
      if (first.row?.mark !== mark) {
        const open = first.row?.querySelector("details")?.open;
        first.row = row(e, open);
        first.row.mark = mark;
      }
      return first.row;
    });
    const now = [...this.list.children];
    if (rows.length !== now.length || rows.some((r, i) => r !== now[i])) this.list.replaceChildren(...rows);
    if (!rows.length) this.list.replaceChildren(h("li", { class: "note" }, "Nothing has happened yet."));
  }
}

// condense merges what several nodes noticed about their peers at the same time: that they
// hear each other, or that the same peers are silent.
function condense(entries) {
  const out = [];
  for (const e of entries) {
    if (e.topic !== "peer" || !e.peers.size) {
      out.push({ ...e, first: e });
      continue;
    }
    const all = ids(new Set([...e.peers, ...e.nodes])), peers = ids(e.peers);
    let i = out.length - 1;
    while (i >= 0 && e.at - out[i].at <= together && !(out[i].kind === e.kind && (out[i].same === peers || out[i].all === all))) i--;
    if (i < 0 || e.at - out[i].at > together) {
      out.push({ ...e, first: e, same: peers, all, text: e.peers.size > 1 ? peerText(e.kind, peers) : e.text });
      continue;
    }
    const old = out[i], mutual = old.all === all && old.same !== peers;
    out[i] = { ...old, nodes: new Set([...old.nodes, ...e.nodes]), events: [...old.events, ...e.events], peers: new Set([...old.peers, ...e.peers]),
      text: mutual ? (e.kind === "peer-alive" ? "hear each other in time" : "do not hear each other any more") : peerText(e.kind, peers) };
  }
  return out;
}

const peerText = (kind, peers) => `${peers} ${kind === "peer-alive" ? "are alive" : kind === "peer-silent" ? "are not heard in time any more" : kind.replace("peer-", "")}`;

function row(e, open) {
  const when = new Date(e.at);
  const clock = `${when.toLocaleTimeString([], { hour12: false })}.${String(when.getMilliseconds()).padStart(3, "0")}`;
  return h("li", { class: `entry ${e.topic}` }, h("details", { open },
    h("summary", {}, h("time", { datetime: when.toISOString() }, clock), h("span", { class: "who" },
      e.kind === "fault" ? h("b", {}, "fault") : [...e.nodes].sort((a, b) => a - b).map((id) => h("b", { class: `swatch ${tint(id)}` }, String(id)))),
      h("span", { class: "what" }, e.text)),
    detail(e)));
}

// detail says why, by all fields of the events.
function detail(e) {
  const first = e.events[0], times = e.events.map((x) => instant(x.time)), list = [];
  const put = (name, value) => { if (value !== undefined && value !== null && value !== "") list.push(h("dt", {}, name), h("dd", {}, String(value))); };
  put("what", first.kind);
  put("noticed by", e.nodes.size ? ids(e.nodes) : "the user of the demonstration");
  put("reason", first.reason);
  put("caused by", first.by ? `node ${first.by}` : undefined);
  put("peer", e.peers.size ? ids(e.peers) : undefined);
  if (first.bound_ns !== undefined) put("proven delay bound", brief(first.bound_ns));
  if (first.silent_for_ns !== undefined) put("silent for", brief(first.silent_for_ns));
  if (first.deaf) put("deaf", "it is heard, but does not hear");
  put("view", first.view);
  put("comes from", first.previous_view);
  if (first.merged?.length > 1) put("branches", first.merged.map((b) => `${ids(b.members)} from ${shortView(b.from) || "nowhere"}`).join(", "));
  put("timeline", first.timeline);
  if (first.step_ns !== undefined) put("stepped by", brief(first.step_ns));
  put("boot id", first.boot);
  if (e.events.length > 1) put("spread", `${e.events.length} events within ${brief((Math.max(...times) - Math.min(...times)) * 1e6)}`);
  return h("dl", {}, list);
}

// textOf shortens the text of an event for readers who see its node beside it.
function textOf(e) {
  return e.text.replace(/^this node /, "").replace(/(\d+@\d+)\/[0-9a-f]{16}/g, "$1").replace(/, of which \{[\d ]*\} are new to this node/, "")
    .replace(/(timeline \d+)\/[0-9a-f]{16}\/(\d+)/g, "$1/$2").replace(/: the waiting time of boot [0-9a-f]{16} is over/, ": its waiting time is over");
}
