// The tables: the nodes, and the delay bounds between them. They say all that the picture
// says, for readers who do not see it.

import { brief, h, ids, set, shortView, tint } from "./format.js";
import { away, broken, globally, grade, leads, unsure, up } from "./model.js";

const yes = (text) => h("span", { class: "good" }, `✓ ${text}`);
const no = (text) => h("span", { class: "bad" }, `✕ ${text}`);
const hmm = (text) => h("span", { class: "warn" }, `! ${text}`);

// questions has ask called with a node and a part of it when somebody asks why that part is as it is.
export function questions(ask) {
  document.addEventListener("click", (e) => {
    const b = e.target.closest?.("button.ask");
    if (b) ask(b.dataset.node, b.dataset.about);
  });
}

const why = (node, about) => h("button", { type: "button", class: "ask", "data-node": node, "data-about": about,
  "aria-label": Number(about) ? `Why is node ${about} as it is to node ${node}?` : `Why is the ${about} of node ${node} as it is?` }, "why?");

// nodes fills the table of nodes.
export function nodes(table, p) {
  const head = ["Node", "State", "Leader", "Lease left ≤", "View", "Clock ±", "Lateness of its loop"];
  const rows = p.nodes.map((n) => {
    const cells = [
      h("th", { scope: "row" }, h("span", { class: `swatch ${tint(n.id)}` }), ` ${n.id} `, n.name !== `node-${n.id}` ? n.name : "", n.self ? h("small", {}, " this node") : "",
        h("small", {}, Object.entries(n.tags || {}).map(([key, value]) => ` ${key}=${value}`).join(""))),
      h("td", {}, state(n)),
      h("td", {}, (n.leads || n.global) && up(n) ? h("strong", { class: tint(n.id) }, `${n.local && !n.global ? "☆" : "★"} ${leads(n)}`) : n.leader && up(n) ? `node ${n.leader}` : n.known || up(n) ? "nobody" : "not known",
        n.known && n.status ? why(n.id, "leader") : null, n.self && p.global ? h("small", {}, ` epoch ${p.global.epoch}: ${globally(p)}`) : null),
    ];
    if (n.known && n.status && up(n)) {
      const late = n.status.lateness;
      cells.push(h("td", { class: "num" }, n.upToDate ? brief(n.leaseLeft) : "–"),
        h("td", {}, n.view ? `${shortView(n.view)} ${ids(n.members)} ` : "none ", n.fresh ? yes("fresh") : hmm(n.staleFor ? `stale ${brief(n.staleFor)}` : "stale"), why(n.id, "view")),
        h("td", { class: "num" }, n.deviation === null ? "unknown" : brief(n.deviation), unsure(n) ? [" ", hmm("not synchronized"), h("small", {}, ` ${n.status.clock.problem || ""}`)] : null, why(n.id, "clock")),
        h("td", { class: "num" }, n.state === "stalled" ? "unknown" : `${brief(late.average_ns)} on average, ${late.late} above σ`));
    } else if (up(n) || away(n)) {
      cells.push(h("td", { class: "num" }, ""), h("td", { colspan: 3 }, n.state === "unknown" ? "not known" : n.inView ? yes("in the view") : n.trouble ? no(n.trouble) : hmm("not in the view"), p.self ? why(p.self, String(n.id)) : null));
    } else {
      cells.push(h("td", { colspan: 4 }, ""));
    }
    return h("tr", {}, cells);
  });
  for (const x of p.strangers || []) rows.push(h("tr", {}, h("th", { scope: "row" }, "?"), h("td", { colspan: 6 }, `${x.address}: ${x.why}`)));
  fill(table, "The nodes, as they answered last", head, rows);
}

function state(n) {
  const text = n.cause || (n.stateFor && n.state !== "up" ? `${n.state} for ${brief(n.stateFor)}` : n.state);
  return [n.state === "up" ? yes("up") : up(n) || n.state === "unknown" ? hmm(text) : no(text),
    n.lags ? hmm(`acknowledges nothing for ${brief(n.lags)}`) : null, n.lacks ? hmm(`its messages have not come for ${brief(n.lacks)}`) : null,
    n.forgot ? no("has forgotten its promises") : null].filter(Boolean).flatMap((e, i) => i ? [h("br"), e] : [e]);
}

// store fills the table of the key-value store, which has one row.
export function store(table, a) {
  const nodes = (list) => list.length === 1 ? `node ${list[0]}` : `nodes ${ids(list)}`;
  const waits = [a.disk && `its disk: ${a.disk}`, a.unstored?.length && !a.disk && `the disk of ${nodes(a.unstored)}`, a.lag, a.obstacle && `the state: ${a.obstacle}`,
    a.absent.length && `${nodes(a.absent)}, which may know more`].filter(Boolean);
  const head = ["Kind", "Takes commands", "Waits for", "State", "Keys", "Leases", ...a.kind === "partitionable" ? ["Conflicts"] : []];
  fill(table, "The key-value store, as this node knows it", head, [h("tr", {},
    h("th", { scope: "row" }, `${a.kind}, ${a.storage ? "on disk" : "in memory"}`),
    h("td", {}, a.accepting && !waits.length ? yes("yes") : no("no")),
    h("td", { class: "long" }, waits.length ? hmm(waits.join("; ")) : "nothing", a.lossy ? h("small", {}, ` ${a.lossy}`) : null),
    h("td", {}, `revision ${a.revision}, ${a.fresh.situation}`),
    h("td", { class: "num" }, `${a.keys} of ${a.max_keys}`), h("td", { class: "num" }, String(a.leases)),
    a.kind === "partitionable" ? h("td", { class: "num" }, String(a.conflicts)) : null)]);
}

// links fills the table of delay bounds: a row for each node that measures.
export function links(table, p) {
  const threshold = p.timing?.fast_threshold_ns ?? Infinity;
  const at = new Map(p.links.map((l) => [`${l.from}>${l.to}`, l]));
  const rows = p.nodes.filter((n) => n.known || n.status).map((to) => h("tr", {}, h("th", { scope: "row" }, `at ${to.id}`),
    p.nodes.map((from) => {
      const l = at.get(`${from.id}>${to.id}`);
      if (!l) return h("td", { class: "num self" }, "·");
      const g = grade(l, threshold);
      const text = g === "x" ? `✕ ${broken(l)}` : g === 0 ? "–" : brief(l.bound);
      return h("td", { class: `num cell d${g}` }, text, g === 4 ? " slow" : "", l.added ? ` (+${brief(l.added)})` : "");
    })));
  fill(table, `Delay bounds; a packet is fast if its bound is at most ${brief(p.timing?.fast_threshold_ns)}`, ["", ...p.nodes.map((n) => `from ${n.id}`)], rows);
}

// fill gives a table another content. It changes only what differs, so that a button keeps
// its focus while the numbers beside it change.
function fill(table, caption, head, rows) {
  const next = h("table", {}, h("caption", { class: "hidden" }, caption),
    h("thead", {}, h("tr", {}, head.map((t) => t ? h("th", { scope: "col" }, t) : h("td")))), h("tbody", {}, rows));
  morph(table, next);
}

// morph makes the children of one element those of another.
function morph(old, next) {
  const had = [...old.childNodes], want = [...next.childNodes];
  want.forEach((w, i) => {
    const o = had[i];
    if (!o) old.append(w);
    else if (o.nodeName !== w.nodeName) o.replaceWith(w);
    else if (w.nodeType === Node.TEXT_NODE) { if (o.data !== w.data) o.data = w.data; }
    else {
      for (const { name, value } of w.attributes) set(o, name, value);
      for (const { name } of [...o.attributes]) if (!w.hasAttribute(name)) o.removeAttribute(name);
      morph(o, w);
    }
  });
  for (const o of had.slice(want.length)) o.remove();
}
