package browsertest

import (
	"fmt"
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
	b := open(t, 1280, 860)
	token := api.NewToken()
	_, url := servePage(t, startNode(t, failaware.Config{ID: 1, Peers: []failaware.Peer{absent}}), token)
	b.do(chromedp.Navigate(url + "#token=" + token))
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
	start := func(id failaware.NodeID, peer failaware.Peer, system string) *failaware.Node {
		q, err := quorum.Parse(system)
		require.NoError(t, err)
		return startNode(t, failaware.Config{ID: id, Peers: []failaware.Peer{peer}, Quorum: q})
	}
	requireShown := func(n *failaware.Node, leads, cell, summary string, full, hollow int) {
		token := api.NewToken()
		_, url := servePage(t, n, token)
		b.do(chromedp.Navigate(url + "#token=" + token))
		b.untilShown(regexp.MustCompile(fmt.Sprintf(`^As node %v knows: %s · %s`, n.ID(), leads, summary)),
			map[string]int{"#graph .star[visibility=visible]:not(.local)": full, "#graph .star.local[visibility=visible]": hollow, "#legend .star": 2})
		require.Equal(t, leads, b.text("#graph .global"))
		require.Contains(t, b.text("#nodes"), cell)
		require.Contains(t, b.text("#nodes"), "epoch 1: "+leads)
		b.settle()
		b.shoot(strings.ReplaceAll(leads, " ", "-"), false)
		b.requireAccessible()
	}
	alone := start(1, absent, "majority:1,2,3")
	requireShown(alone, "no global leader is known", "☆ leads locally", `node 1 leads \{1\} locally, view fresh · node 2 silent$`, 0, 1)

	one := start(1, absent, "majority:1,3")
	two := start(3, failaware.Peer{ID: 1, Addr: one.Addr().String()}, "majority:1,3")
	_, err := two.WaitGlobalLeader(b.ctx)
	require.NoError(t, err)
	if two.LeadsGlobally() {
		one, two = two, one
	}
	requireShown(one, fmt.Sprintf("node %v leads globally", one.ID()), "★ leads globally", `node \d leads \{1 3\} locally`, 1, 0)
	requireShown(two, fmt.Sprintf("node %v leads globally, as heard", one.ID()), "★ leads globally, as heard", `node \d leads \{1 3\} locally`, 1, 0)
}
