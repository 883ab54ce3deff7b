package browsertest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/leader/quorum"
)

// absent is a peer that does not run. Port 9 is that of a service that discards everything.
var absent = failaware.Peer{ID: 2, Addr: "127.0.0.1:9"}

// A node that is cut off does not know whether the others have a leader. Its page counts no
// leaders, and calls the lead of another node a claim if the node does not follow it.
func TestANodeDoesNotCountLeaders(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b, _ := openNode(t, 1280, 860, failaware.Config{ID: 1, Peers: []failaware.Peer{absent}}, api.NewToken())
	b.until("#summary", func(s string) bool { return s == "As node 1 knows: node 1 leads {1}, view fresh · node 2 silent" })
	require.Equal(t, "As node 1 knows: node 2 says that it leads {2 3} · without a leader: {1}", eval[string](b, claimed, chromedp.EvalAwaitPromise))
}

// claimed is an expression with the summary of a node that follows nobody, and hears that
// another one leads.
const claimed = `import("/dashboard/model.js").then((m) => m.summary(m.pictureOf({node: 1, ready: true, timing: {}, leader: {}, view: {members: []}, clock: {}, members: [
	{node: 2, alive: true, says_leads: true, locked_to: 2}, {node: 3, alive: true, locked_to: 2}]}, false)))`

// With a quorum system the page says who leads globally: that the node does, has heard of
// another one, or knows of none. A full star is the global lead.
func TestANodeSaysWhoLeadsGlobally(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := open(t, 1280, 860)
	requireShown := func(system, leads, cell string, full, hollow int) {
		q, err := quorum.Parse(system)
		require.NoError(t, err)
		token := api.NewToken()
		_, url := servePage(t, startNode(t, failaware.Config{ID: 1, Peers: []failaware.Peer{absent}, Quorum: q}), token)
		b.do(chromedp.Navigate(url + "#token=" + token))
		b.untilShown(regexp.MustCompile("^As node 1 knows: "+leads+` · node 1 leads \{1\} locally, view fresh · node 2 silent$`),
			map[string]int{"#graph .star[visibility=visible]:not(.local)": full, "#graph .star.local[visibility=visible]": hollow, "#legend .star": 2})
		title := leads // once, where the title of the partition does not say it
		if full > 0 {
			title = ""
		}
		b.until("#graph .global", func(s string) bool { return s == title })
		b.until("#nodes", func(s string) bool { return strings.Contains(s, cell) && strings.Contains(s, "epoch 1: "+leads) })
		b.settle()
		b.shoot(strings.ReplaceAll(leads, " ", "-"), false)
		b.requireAccessible()
	}
	requireShown("majority:1,2,3", "no global leader is known", "☆ leads locally", 0, 1)
	requireShown("weighted:1=1", "node 1 leads globally", "★ leads globally", 1, 0)
	require.Equal(t, []string{
		"As node 1 knows: node 2 leads globally, as heard · node 2 leads {1 2} locally, view fresh at node 1",
		"", "node 2why? epoch 4: node 2 leads globally, as heard", "★ leads globally, as heard", "1 star",
	}, eval[[]string](b, heard, chromedp.EvalAwaitPromise))
}

// heard is an expression with what the page of a node shows that follows another one, of which
// it has heard that it leads globally: summary, picture, the leaders in the table, and full stars.
const heard = `Promise.all(["model", "graph", "tables"].map((name) => import("/dashboard/" + name + ".js"))).then(([m, g, tables]) => {
	const p = m.pictureOf({node: 1, ready: true, timing: {}, lateness: {}, leader: {up_to_date: true, leader: 2}, global: {leader: 2, quorum: "majority:1,2", epoch: 4},
		view: {members: [], up_to_date: true}, clock: {}, members: [{node: 2, alive: true, leads: true, says_leads: true, locked_to: 2, in_view: true}]}, false);
	const box = document.createElement("div"), table = document.createElement("table");
	new g.Graph(box).show(p);
	tables.nodes(table, p);
	return [m.summary(p), box.querySelector(".global").textContent, table.rows[1].cells[2].textContent, table.rows[2].cells[2].textContent,
		box.querySelectorAll(".star[visibility=visible]:not(.local)").length + " star"];
})`
