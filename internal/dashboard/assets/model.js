// The picture that the page shows: a plain value, the same for one node and for the
// demonstration.
//
//   nodes       {id, name, state, self, known, leads, claims, leader, upToDate, view, members, fresh,
//                viewLeft, staleFor, leaseLeft, leaseMax, deviation, utc, synced, offset, status,
//                cause, trouble, lags, lacks, forgot}: why a node is ignored, and what is wrong with it
//   links       {from, to, bound, fast, heard, ignored, cut, added}: what "to" proved about packets of "from"
//   partitions  {leader, nodes}: a leader and the nodes that are bound to it
//   global      {leader, leads, epoch}: the global leader, for one node with a quorum system
//
// A node is known if it answered itself. One node knows what the others said to it, and
// only the links that end at itself.

export function pictureOf(world, demo) {
  const p = demo ? ofDemo(world) : ofNode(world);
  p.nodes.sort((a, b) => a.id - b.id);
  p.byID = new Map(p.nodes.map((n) => [n.id, n]));
  return divide(p);
}

function divide(p) {
  p.partitions = partitions(p);
  for (const n of p.nodes) n.partition = p.partitions.find((q) => q.nodes.includes(n.id));
  return p;
}

// age takes from a picture what is over after a time without an answer, in nanoseconds: a
// node whose leases have ended, and all that it knew, are unknown.
export function age(p, time) {
  const over = (n) => n && !(Math.min(n.leaseLeft, n.viewLeft) > time);
  const own = over(p.byID.get(p.self));
  const gone = new Set(p.nodes.filter((n) => n.known ? over(n) : own));
  for (const n of p.nodes) {
    if (gone.has(n)) Object.assign(n, { state: "unknown", known: false, leads: false, fresh: false, inView: false, upToDate: false, deviation: null, synced: undefined });
    else n.leaseLeft -= time;
  }
  for (const l of p.links) l.known &&= !gone.has(p.byID.get(l.to));
  if (own) p.global = null;
  return divide(p);
}

function ofDemo(world) {
  const timing = world.nodes.find((n) => n.status)?.status.timing;
  const p = { demo: true, world, nodes: [], links: [], timing, bounds: world.nodes.find((n) => n.status)?.status.bounds };
  const faults = new Map(world.links.map((l) => [`${l.from}>${l.to}`, l]));
  for (const w of world.nodes) {
    const n = w.status ? ofStatus(w.status) : { id: w.node, name: `node-${w.node}`, leader: 0, members: [] };
    Object.assign(n, { known: true, self: false, state: w.state, stateFor: w.for_ns, staleFor: w.stale_for_ns, offset: w.offset_ns,
      delivered: w.delivered, latency: w.latency_ns });
    p.nodes.push(n);
    for (const other of world.nodes) {
      if (other.node === w.node) continue;
      const m = w.status?.members.find((x) => x.node === other.node);
      const fault = faults.get(`${other.node}>${w.node}`);
      p.links.push(link(other.node, w.node, m, fault, w.state));
    }
  }
  return p;
}

function ofNode(status) {
  const p = { demo: false, nodes: [], links: [], timing: status.timing, bounds: status.bounds, self: status.node };
  const own = ofStatus(status);
  Object.assign(own, { known: true, self: true });
  p.nodes.push(own);
  for (const m of status.members) {
    if (m.self) Object.assign(own, faults(m));
    if (m.self || !m.node) continue;
    const cause = ignored(m);
    p.nodes.push({ id: m.node, name: m.name, tags: m.tags, known: false, self: false, state: status.age_ns < 0 ? "unknown" : m.alive ? "up" : cause ? "ignored" : m.deaf ? "deaf" : "silent",
      leader: m.locked_to, leads: m.leads || m.says_leads, claims: !m.leads, upToDate: m.alive, members: [], cause, trouble: trouble(m),
      inView: m.in_view, ...faults(m) });
    p.links.push(link(m.node, status.node, m, null, own.state));
  }
  if (status.global?.quorum) {
    p.global = status.global;
    for (const n of p.nodes) Object.assign(n, { local: true, global: n.id === p.global.leader });
  }
  p.strangers = status.members.filter((m) => !m.node).map((m) => ({ address: m.listed || m.address, why: trouble(m) || "nothing was heard" }));
  return p;
}

// ignored says in a few words why the packets of a node are ignored, or is "".
const ignored = (m) => m.alive ? "" : m.ignored || (m.clock_fault ? "clock fault" : "");

// trouble says why a node is not alive, as far as that is known.
const trouble = (m) => m.mismatch || m.refused || m.problem || m.unsent;

// faults are what is wrong with a node that may be alive: how long it has held up the broadcast,
// how long its messages have not come, and whether it has forgotten its promises.
const faults = (m) => ({ lags: m.lagging_ns || 0, lacks: m.missing_ns || 0, forgot: !!m.forgot });

function ofStatus(s) {
  return { id: s.node, name: s.name, tags: s.tags, state: s.stopped ? "failed" : s.age_ns < 0 ? "stalled" : s.ready ? "up" : "starting", status: s,
    leads: s.leader.leads, leader: s.leader.up_to_date ? s.leader.leader : 0, upToDate: s.leader.up_to_date,
    leaseLeft: s.leader.at_most_ns, leaseMax: s.timing.lock_time_ns, support: s.leader.support,
    view: s.view.id || "", members: s.view.members.map((m) => m.node), fresh: s.view.up_to_date, viewLeft: s.view.at_most_ns,
    deviation: s.clock.deviation_ns, utc: s.clock.utc_bound_ns, synced: s.clock.up_to_date, timeline: s.clock.timeline || "" };
}

function link(from, to, m, fault, state) {
  return { from, to, known: !!m && !["crashed", "failed", "stalled", "paused"].includes(state), heard: !!m?.alive || !!m?.deaf, ignored: !!m && !!ignored(m), fast: !!m?.fast, bound: m?.delay_ns ?? null,
    cut: !!fault?.cut, added: fault?.added_ns || 0 };
}

// partitions finds the leaders and the nodes that are bound to each.
function partitions(p) {
  return p.nodes.filter((n) => n.leads && up(n)).map((lead) => ({
    leader: lead.id,
    nodes: p.nodes.filter((n) => n.id === lead.id || n.upToDate && n.leader === lead.id && up(n)).map((n) => n.id),
  }));
}

export const up = (n) => n.state !== "crashed" && n.state !== "failed" && !away(n);

// away reports whether the node that answers counts another one as not alive: it hears
// nothing in time, or is not heard; or whether its loop is stalled, so that it cannot say.
export const away = (n) => ["silent", "deaf", "ignored", "unknown"].includes(n.state);

// grade sorts a link by its proven bound: 1 to 3 are fast, 4 is slow, "x" is broken, and
// 0 means that nothing is known.
export function grade(l, threshold) {
  if (l.cut) return "x";
  if (!l.known) return 0;
  if (!l.heard || l.ignored) return "x";
  if (l.bound === null) return 0;
  if (!l.fast || l.bound > threshold) return 4;
  return l.bound <= threshold / 8 ? 1 : l.bound <= threshold / 2 ? 2 : 3;
}

export const grades = { 1: "at most Δ/8", 2: "at most Δ/2", 3: "at most Δ: fast", 4: "above Δ: slow", x: "silent, ignored or cut", 0: "not known" };

// broken says why a link is broken.
export const broken = (l) => l.cut ? "cut" : l.ignored ? "ignored" : "silent";

// unsure reports whether a node has answered that its clock is not synchronized.
export const unsure = (n) => n.known && n.synced === false;

// summary says in one sentence how the group is. It counts leaders only where all nodes have
// answered: one node does not know whether others have a leader without it.
export function summary(p) {
  const parts = p.partitions.map((q) => {
    const lead = p.byID.get(q.leader);
    const fresh = q.nodes.filter((id) => { const n = p.byID.get(id); return n.known ? n.fresh && n.view === lead.view : n.inView; });
    const own = p.byID.get(p.self);
    const view = !lead.known ? (own.partition === q ? `, view ${own.fresh ? "fresh" : "stale"} at node ${p.self}` : "") : fresh.length === q.nodes.length ? ", view fresh" : fresh.length ? `, view fresh at ${fresh.length} of ${q.nodes.length}` : ", no fresh view";
    return `node ${q.leader} ${lead.claims ? claim : "leads"} {${q.nodes.join(" ")}}${p.global ? " locally" : ""}${view}`;
  });
  if (p.global) parts.unshift(globally(p));
  const alone = p.nodes.filter((n) => n.state === "up" && n.known && !n.partition).map((n) => n.id);
  if (alone.length) parts.push(`without a leader: {${alone.join(" ")}}`);
  for (const n of p.nodes) {
    if (n.state !== "up") parts.push(`node ${n.id} ${n.cause ? `ignored: ${n.cause}` : n.state}`);
    if (n.self && n.state === "up" && unsure(n)) parts.push("its clock is not synchronized");
    if (n.lags || n.lacks) parts.push(`node ${n.id} holds up the broadcast`);
    if (n.forgot) parts.push(`node ${n.id} has forgotten its promises`);
  }
  const count = p.partitions.length;
  return `${p.self ? `As node ${p.self} knows:` : `${count === 0 ? "No leader" : count === 1 ? "One leader" : `${count} leaders`} ·`} ${parts.join(" · ")}`;
}

// globally says who leads globally. Another node's lead is hearsay.
export function globally({ global: g }) {
  return !g.leader ? "no global leader is known" : `node ${g.leader} leads globally${g.leads ? "" : ", as heard"}`;
}

// leads says how a leader leads: the claim of one that no node has proved is its own.
export const leads = (n) => n.global ? `leads globally${n.self ? "" : ", as heard"}` : n.claims ? claim : n.local ? "leads locally" : "leads";

const claim = "says that it leads";
