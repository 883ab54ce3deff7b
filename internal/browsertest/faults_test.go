package browsertest

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/internal/store"
	"github.com/failaware/failaware/leader/quorum"
)

// A peer whose packets come, and are ignored, is not called silent: the page says in a few words
// why, and names flags.
func TestAnIgnoredPeerIsNotCalledSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	file := filepath.Join(t.TempDir(), "keys")
	ring, err := seal.NewRing(seal.NewKey())
	require.NoError(t, err)
	require.NoError(t, ring.WriteFile(file))
	b := open(t, 1280, 860)
	for cause, cfg := range map[string]failaware.Config{"settings differ": {Broadcast: &failaware.BroadcastConfig{}}, "keys differ": {KeyFile: file}} {
		cfg.ID = 1
		one := startNode(t, cfg)
		two := startNode(t, failaware.Config{ID: 2, Peers: []failaware.Peer{{ID: 1, Addr: one.Addr().String()}}})
		require.NoError(t, one.SetPeers([]failaware.Peer{{ID: 2, Addr: two.Addr().String()}}))
		server, token := api.NewServer(two), api.NewToken()
		server.InFlags = func(text string) string { return strings.ReplaceAll(text, "Broadcast is", "--broadcast is") }
		_, url := serve(t, server, token)
		b.do(chromedp.Navigate(url + "#token=" + token))
		b.until("#summary", func(s string) bool {
			return s == "As node 2 knows: node 2 leads {2}, view fresh · node 1 ignored: "+cause
		})
		b.until("#nodes", func(s string) bool { return strings.Contains(s, "✕ "+cause) })
		b.until("#links", func(s string) bool { return strings.Contains(s, "✕ ignored") })
		b.until("#graph .link + .bound", func(s string) bool { return s == "ignored" })
		b.until("#graph .node.ignored .sub", func(s string) bool { return s == "node 1: "+cause })
		if cause == "settings differ" {
			b.until("#nodes", func(s string) bool { return strings.Contains(s, "--broadcast is off here and on there") })
			b.until("#timeline", func(s string) bool { return strings.Contains(s, "--broadcast is off here and on there") })
		}
		b.settle()
		b.shoot(strings.ReplaceAll(cause, " ", "-"), true)
		b.requireAccessible()
	}
	b.requireNoErrors()
}

// A clock that is not synchronized is not drawn like one that is.
func TestAClockThatIsNotSynchronizedIsDrawnSo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := open(t, 1280, 860)
	one := startNode(t, failaware.Config{ID: 1, Weight: 1})
	two := startNode(t, failaware.Config{ID: 2, Peers: []failaware.Peer{{ID: 1, Addr: one.Addr().String()}}, Clock: failaware.ClockConfig{MaxDeviation: 1}})
	token := api.NewToken()
	_, url := servePage(t, two, token)
	b.do(chromedp.Navigate(url + "#token=" + token))
	b.until("#summary", regexp.MustCompile(`^As node 2 knows: node 1 leads \{1 2\}, view fresh at node 2 · its clock is not synchronized$`).MatchString)
	b.until("#graph .sub.alert", regexp.MustCompile(`^±[\d.]+ .?s, not synchronized$`).MatchString)
	b.until("#nodes", regexp.MustCompile(`[\d.]+ .?s ! not synchronized`).MatchString)
	b.until("#clock-text", func(s string) bool { return strings.Contains(s, ", not synchronized") })
	b.settle()
	b.shoot("unsynchronized", true)
	b.requireAccessible()
	b.requireNoErrors()
}

// The page of a node with a store has a row of it, and that of another one has none.
func TestTheStoreHasARow(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b, _ := openNode(t, 1280, 860, failaware.Config{ID: 1}, api.NewToken())
	b.until("#summary", func(s string) bool { return strings.Contains(s, "node 1 leads {1}") })
	require.True(t, eval[bool](b, `document.querySelector("#store-card").hidden`))

	q, err := quorum.Parse("majority:1")
	require.NoError(t, err)
	cfg := failaware.Config{ID: 1, Timing: failaware.LAN(), Quorum: q, Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}
	p, err := store.Prepare(cfg, store.Config{Kind: kv.Linearizable})
	require.NoError(t, err)
	n, err := failaware.Start(context.Background(), cfg)
	require.NoError(t, err)
	s, err := p.Start(n)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	token := api.NewToken()
	_, url := serve(t, api.NewServerWithStore(n, s), token)
	b.do(chromedp.Navigate(url + "#token=" + token))
	b.until("#store", func(s string) bool {
		return strings.Contains(s, "linearizable, in memory") && strings.Contains(s, "✓ yesnothingrevision 0") && strings.Contains(s, "0 of 100000")
	})
	require.False(t, eval[bool](b, `document.querySelector("#store-card").hidden`))
	b.settle()
	b.shoot("store", true)
	b.requireAccessible()
	b.requireNoErrors()
	require.Equal(t, "✕ no", eval[string](b, storeThatWaits, chromedp.EvalAwaitPromise))
}

// storeThatWaits is an expression with whether a store takes commands that waits for a member.
const storeThatWaits = `import("/dashboard/tables.js").then((tables) => {
	const table = document.createElement("table");
	tables.store(table, {kind: "linearizable", accepting: true, absent: [], lag: "node 3", fresh: {}});
	if (!table.rows[1].cells[2].textContent.includes("node 3")) return "it does not say whom it waits for";
	return table.rows[1].cells[1].textContent;
})`

// What is wrong with a node that is heard is said too.
func TestFaultsOfHeardNodesAreSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b, _ := openNode(t, 1280, 860, failaware.Config{ID: 1}, api.NewToken())
	b.until("#summary", func(s string) bool { return strings.Contains(s, "node 1 leads {1}") })
	require.Equal(t, []string{"As node 1 knows: without a leader: {1} · node 2 holds up the broadcast · node 3 holds up the broadcast · node 3 has forgotten its promises",
		"✓ up", "✓ up! acknowledges nothing for 5.00 s", "✓ up! its messages have not come for 6.00 s✕ has forgotten its promises", "✕ clock fault",
	}, eval[[]string](b, faulty, chromedp.EvalAwaitPromise))
}

// faulty is an expression with the summary of a node, and the states in its table.
const faulty = `Promise.all(["model", "tables"].map((name) => import("/dashboard/" + name + ".js"))).then(([m, tables]) => {
	const status = {node: 1, ready: true, timing: {}, lateness: {}, leader: {}, view: {members: []}, clock: {up_to_date: true}, members: [{node: 1, self: true},
		{node: 2, alive: true, lagging_ns: 5e9}, {node: 3, alive: true, missing_ns: 6e9, forgot: true}]};
	const texts = [m.summary(m.pictureOf(status, false))];
	status.members.push({node: 4, clock_fault: true});
	const table = document.createElement("table");
	tables.nodes(table, m.pictureOf(status, false));
	return [...texts, ...[...table.rows].slice(1).map((row) => row.cells[1].textContent)];
})`
