package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// Many nodes are small, so that no two cover each other, and the picture names none that it
// has no room for. Whom a silent node follows is not known.
func TestManyNodesStayApart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b, _ := openNode(t, 1280, 860, failaware.Config{ID: 1}, "")
	for _, nodes := range []int{5, 30, 100} {
		require.Equal(t, fmt.Sprintf("%d nodes, 0 covered, not known", nodes), eval[string](b, fmt.Sprintf(crowd, nodes), chromedp.EvalAwaitPromise))
	}
}

// crowd is an expression with the nodes of a large group, of which the last one is silent,
// how many cover another one, and whom the silent one follows.
const crowd = `Promise.all([import("/dashboard/model.js"), import("/dashboard/graph.js"), import("/dashboard/tables.js")]).then(async ([m, g, tables]) => {
	const most = %d, members = Array.from({ length: most - 1 }, (_, i) => ({ node: i + 2, name: "a-node-with-a-very-long-name-" + i,
		alive: i + 2 < most, fast: true, delay_ns: 1000, locked_to: i + 2 < most ? 1 : 0, in_view: i + 2 < most }));
	const p = m.pictureOf({ node: 1, name: "node-1", ready: true, timing: {}, lateness: {}, leader: { leads: true, up_to_date: true, leader: 1 }, view: { members: [], up_to_date: true },
		clock: {}, members }, false);
	const box = document.createElement("div"), table = document.createElement("table");
	document.querySelector("#graph").after(box);
	new g.Graph(box).show(p);
	tables.nodes(table, p);
	await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	const discs = [...box.querySelectorAll(".disc")].map((e) => e.getBoundingClientRect());
	const covered = discs.filter((a, i) => discs.some((b, j) => i !== j && Math.hypot(a.x - b.x, a.y - b.y) < (a.width + b.width) / 2)).length;
	box.remove();
	return discs.length + " nodes, " + covered + " covered, " + table.rows[most].cells[2].textContent;
})`

// Silent nodes stand in a row with the node that answers. Links lead around the nodes between
// their ends, and the labels of links cover nothing.
func TestLinksLeadAroundNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b, _ := openNode(t, 1440, 900, failaware.Config{ID: 1}, "")
	b.until("#connection", func(s string) bool { return s == "no token" })
	for _, silent := range []string{"3", "2", "2, 3", "2, 3, 4", "4", "3, 4"} {
		require.Equal(t, "", eval[string](b, fmt.Sprintf(row, silent), chromedp.EvalAwaitPromise), "silent: %s", silent)
		b.shoot("silent "+silent, false)
	}
}

// row is an expression with what is wrong in the picture of a group, some of whose nodes are
// silent: a link that leads over a node, or a label that covers something.
const row = `Promise.all([import("/dashboard/model.js"), import("/dashboard/graph.js")]).then(async ([m, g]) => {
	const silent = [%s], members = Array.from({ length: Math.max(2, ...silent.map((id) => id - 1)) }, (_, i) => i + 2).map((node) =>
		({ node, name: "node-" + node, alive: !silent.includes(node), fast: true, delay_ns: 41300, locked_to: 1, in_view: true }));
	const p = m.pictureOf({ node: 1, name: "node-1", ready: true, timing: {}, leader: { leads: true, up_to_date: true, leader: 1 }, view: { members: [], up_to_date: true },
		clock: { deviation_ns: 0 }, members }, false);
	document.querySelector("#login").hidden = true;
	document.querySelector("#page").hidden = false;
	const graph = new g.Graph(document.querySelector("#graph"));
	graph.show(p);
	await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
	for (const l of graph.links.values()) {
		for (const n of graph.nodes.values()) {
			if (n.id === l.from || n.id === l.to) continue;
			for (let i = 0, all = l.path.getTotalLength(); i <= all; i += 2) {
				const at = l.path.getPointAtLength(i);
				if (Math.hypot(at.x - n.x, at.y - n.y) < 40) return l.from + " to " + l.to + " leads over " + n.id;
			}
		}
	}
	const things = [...graph.svg.querySelectorAll(".bound.on, .title, .sub, .disc")].filter((e) => e.matches(".disc") || e.textContent).map((e) => [e, e.getBoundingClientRect()]);
	for (const [e, a] of things) for (const [o, b] of things) {
		if (e.matches(".bound") && e !== o && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) return e.textContent + " covers " + (o.textContent || "a node");
	}
	return "";
})`
