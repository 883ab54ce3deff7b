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
	b := open(t, 1280, 860)
	_, url := servePage(t, startNode(t, failaware.Config{ID: 1}), "")
	b.do(chromedp.Navigate(url))
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
