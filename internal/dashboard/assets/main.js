// The page: it takes the answers of the source, and hands the picture to its parts.

import { changes, Chart, clocks, directions, rates, reading } from "./charts.js";
import { Controls } from "./controls.js";
import { brief, set } from "./format.js";
import { Graph, legend } from "./graph.js";
import { Lanes } from "./lanes.js";
import { Lineage } from "./lineage.js";
import { age, pictureOf, summary, unsure, up } from "./model.js";
import { patience, Source } from "./source.js";
import * as tables from "./tables.js";
import { Timeline } from "./timeline.js";
import { Why } from "./why.js";

const $ = (id) => document.getElementById(id);
const demo = document.documentElement.dataset.source === "demo";

const source = new Source(demo ? "demo" : "node", { world, store, event, connected, denied, restarted });
let controls, picture, last, lastWorld = 0, counted; // the last answer, and when it was asked for
let gap, seen = 0, measured; // whether the lanes end, since when somebody looks, and the time of the last points of the charts
const graph = new Graph($("graph"), (list) => controls?.select(list));
if (demo) controls = new Controls($("controls"), source, graph);
const why = new Why($("why"), source);
tables.questions((node, about) => why.ask(node, about));
const timeline = new Timeline($("timeline"), $("filter"));
const lanes = new Lanes($("lanes"), renewed);
const lineage = new Lineage($("lineage"));
const clockChart = new Chart($("clock"), clocks);
const electionChart = new Chart($("elections"), changes(() => picture?.bounds && picture.bounds.view_ns / 1e6));
const trafficChart = new Chart($("traffic"), rates);
const charts = [clockChart, electionChart, trafficChart];
const latest = []; // times without a fresh view
let past; // readings of the clock from before the page was opened, once they are there

// world takes an answer about the present.
function world(answer) {
  picture = pictureOf(last = answer, demo);
  const now = Date.now();
  set($("scope"), "", demo ? `demo · ${answer.nodes.length} nodes` : `${answer.group} · node ${answer.node}`);
  document.title = demo ? "failaware demo" : `failaware · ${answer.name}`;
  set($("summary"), "", summary(picture));
  set($("known"), "", demo ? "" : `As node ${answer.node} knows it. It measures only the packets that it receives, so the links between other nodes are not known here.`);
  if (demo) promise(answer);
  show(picture);
  if (!source.late()) { // otherwise nobody knows when it was so
    for (const n of picture.nodes) if (n.known) lanes.sample(n, now);
    lanes.draw(picture.nodes.filter((n) => n.known), now);
    measure(now / 1000);
  }
  if (!legend.done && picture.timing) { legend($("legend"), picture); legend.done = true; }
  lastWorld = now - source.age();
}

// store takes an answer about the key-value store; null if there is none.
function store(answer) {
  $("store-card").hidden = !answer;
  if (answer) tables.store($("store"), answer);
}

function show(p) {
  graph.show(p);
  tables.nodes($("nodes"), p);
  tables.links($("links"), p);
  lineage.draw(p);
}

// lost says that nothing of the last answer need hold any more, and shows nothing that is over.
function lost() {
  if (!lastWorld) return;
  set($("summary"), "", `Not known: nothing answers. What was true before: ${summary(picture)}`);
  show(age(pictureOf(last, demo), source.age() * 1e6));
  for (const id of ["clock-text", "traffic-text"]) reading($(id), []);
  store(null);
  if (gap || performance.now() - seen < patience) return; // the events may have told all while nobody looked
  gap = true;
  lanes.lose(lastWorld);
}

// promise shows the result of the checks of the demonstration.
function promise(answer) {
  const broken = answer.violations.length;
  $("promise").hidden = false;
  set($("promise"), "class", `chip ${broken ? "bad" : "good"}`);
  set($("promise"), "", broken ? `✕ a promise is broken: ${answer.violations[0]}` : `✓ ${answer.checks.toLocaleString("en")} checks: every promise holds`);
}

// measure adds points to the charts.
function measure(now) {
  if (!past) return;
  if (now - measured > 2) for (const c of charts) c.add(measured + 0.001, {}); // no line leads over the gap
  measured = now;
  past.forEach((q, i) => clockChart.add(now - (past.length - i), q.deviation_ns === null ? {} : band(picture.self, q.deviation_ns)));
  past = [];
  const clock = {}, known = picture.nodes.filter((n) => n.known && up(n));
  for (const n of known) {
    if (n.deviation === null || n.deviation === undefined || unsure(n)) continue;
    Object.assign(clock, band(n.id, n.deviation));
    if (demo) clock[`${n.id} off`] = n.offset === null ? null : n.offset / 1e3;
  }
  clockChart.add(now, clock);
  set($("clock-note"), "", demo ? "Line: true distance from the leader’s clock. Band: the bound that the node proves."
    : `Band: group time is within it. ${picture.nodes.find((n) => n.self).utc !== null ? "UTC is known." : "UTC is not known."}`);
  reading($("clock-text"), known.map((n) => [n.id, `${n.deviation === null ? "not known" : `±${brief(n.deviation)}`}${unsure(n) ? ", not synchronized" : ""}`]));
  electionChart.add(now, picture.bounds ? { bound: picture.bounds.view_ns / 1e6 } : {});
  set($("elections-note"), "", picture.bounds ? `Each point: how long a node had no fresh view; hollow: at most so long, as nothing was known meanwhile. Dashed: the guarantee, ${brief(picture.bounds.view_ns)}, where packets arrive in time.` : "");
  reading($("elections-text"), latest.slice(-4).reverse().map((e) => [e.node, `${e.unknown ? "not known, at most " : ""}${brief(e.took * 1e6)}${e.leader ? `, then led by node ${e.leader}` : ""}`]));
  traffic(now, known);
  for (const c of charts) c.draw(now);
}

const band = (id, deviation) => ({ [`${id} high`]: deviation / 1e3, [`${id} low`]: -deviation / 1e3 });

// traffic adds the rates since the last answer.
function traffic(now, known) {
  const count = new Map();
  if (demo) for (const n of known) count.set(String(n.id), n.delivered);
  else for (const what of ["sent", "received"]) count.set(what, known[0].status.counters[`${what}_packets`]);
  if (counted) {
    const rate = {}, seconds = now - counted.at;
    if (seconds < 0.9) return;
    for (const [name, v] of count) if (v >= (counted.count.get(name) ?? v)) rate[name] = (v - (counted.count.get(name) ?? v)) / seconds;
    trafficChart.add(now, rate);
    reading($("traffic-text"), demo ? known.map((n) => [n.id, `${Math.round(rate[n.id] ?? 0)}/s${n.latency ? `, ${brief(n.latency)}` : ""}`])
      : Object.entries(rate).map(([name, r]) => [0, `${Math.round(r)} packets/s ${name}`]));
  }
  counted = { at: now, count };
}

// renewed takes the end of a time without a fresh view.
function renewed(e) {
  latest.push(e);
  if (latest.length > 50) latest.shift();
  electionChart.add(e.at / 1000, { [e.unknown ? `${e.node}?` : e.node]: e.took, bound: picture?.bounds ? picture.bounds.view_ns / 1e6 : null });
}

function event(e) {
  timeline.add(e);
  lanes.event(e);
  lineage.event(e);
}

// restarted forgets everything about an earlier run of the program.
function restarted() {
  timeline.clear();
  lanes.clear();
  lineage.clear();
}

function connected(yes, err) {
  if (yes) gap = false;
  else lost();
  set($("connection"), "class", `chip ${yes ? "good" : "bad"}`);
  set($("connection"), "", yes ? "● live" : `○ no answer${lastWorld ? ` for ${Math.round((Date.now() - lastWorld) / 1000)} s` : ""}`);
  if (yes || err) $("connection").title = err ? String(err.message) : "";
  document.body.classList.toggle("lost", !yes);
}

// The time without an answer grows also while no answer fails.
function check() {
  if (!document.hidden && (source.late() || !source.stopped && document.body.classList.contains("lost"))) connected(false);
}
setInterval(check, 250);
document.addEventListener("visibilitychange", () => { seen = performance.now(); check(); });

function denied(token) {
  $("page").hidden = true;
  $("login").hidden = false;
  set($("login-error"), "", token ? "The node does not take this token. Without --api-token it makes another at each start." : "");
  set($("connection"), "class", "chip bad");
  set($("connection"), "", token ? "wrong token" : "no token");
  $("token").focus();
}

$("login").addEventListener("submit", (e) => {
  e.preventDefault();
  source.setToken($("token").value.trim());
  again();
});
addEventListener("hashchange", () => { if (source.takeToken()) again(); });

// again asks with another token.
function again() {
  $("login").hidden = true;
  $("page").hidden = false;
  if (source.stopped) start();
}

// The colours are those of the system until the user chooses.
const themes = ["automatic", "light", "dark"], system = matchMedia("(prefers-color-scheme: dark)");
function paint() {
  const choice = localStorage.getItem("failaware-theme") || "automatic";
  document.documentElement.dataset.theme = choice === "automatic" ? (system.matches ? "dark" : "light") : choice;
  $("theme").setAttribute("aria-label", `Colours: ${choice}`);
  $("theme").title = `Colours: ${choice}`;
  for (const c of charts) c.repaint();
}
$("theme").addEventListener("click", () => {
  const choice = localStorage.getItem("failaware-theme") || "automatic";
  localStorage.setItem("failaware-theme", themes[(themes.indexOf(choice) + 1) % themes.length]);
  paint();
});
system.addEventListener("change", paint);
paint();

if (!demo) {
  set($("traffic-title"), "", "Packets");
  directions($("traffic-note"));
}
start();

// start asks for the past first, if there is one.
function start() {
  source.past().then((points) => { past = points; }).catch(() => { past = []; });
  source.start();
}
