package browsertest

import (
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/dashboard"
)

// gate is a listener whose connections stay open and deliver nothing while somebody holds
// it, as those of a stopped process do.
type gate struct {
	net.Listener
	sync.RWMutex
}

func (g *gate) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	return gatedConn{c, g}, err
}

type gatedConn struct {
	net.Conn
	gate *gate
}

func (c gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.gate.RLock()
	defer c.gate.RUnlock()
	return n, err
}

// servePage serves the page of a node behind a gate, and returns its address.
func servePage(t *testing.T, n *failaware.Node, token string) (*gate, string) {
	t.Helper()
	return serve(t, api.NewServer(n), token)
}

// serve serves the page of a server.
func serve(t *testing.T, server *api.Server, token string) (*gate, string) {
	t.Helper()
	server.Pages = dashboard.Handler(dashboard.Node)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{Listener: l}
	served := make(chan error, 1)
	go func() { served <- server.ServeTCP(g, api.TokenOf(token)) }()
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, <-served)
	})
	return g, "http://" + l.Addr().String() + "/"
}

// openNode opens the page of a new node, whose API asks for a token unless that is empty. The
// page has the token.
func openNode(t *testing.T, width, height int64, cfg failaware.Config, token string) (*tab, *gate) {
	b := open(t, width, height)
	g, url := servePage(t, startNode(t, cfg), token)
	if token != "" {
		url += "#token=" + token
	}
	b.do(chromedp.Navigate(url))
	return b, g
}

// earlyWait is how long nothing has answered, before the question is given up.
var earlyWait = regexp.MustCompile(`^○ no answer for [2-5] s$`)

// A node that is stopped keeps its connections. The page says that it does not know any
// more what it shows, and for how long.
func TestAPageWithoutAnswersSaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b, g := openNode(t, 1280, 860, failaware.Config{ID: 1}, api.NewToken())
	leads := func(s string) bool { return s == "As node 1 knows: node 1 leads {1}, view fresh" }
	b.until("#summary", leads)

	g.Lock()
	b.until("#summary", func(s string) bool {
		return strings.HasPrefix(s, "Not known: nothing answers. What was true before: As node 1 knows: node 1 leads {1}, ")
	})
	b.until("#connection", earlyWait.MatchString)
	require.Equal(t, 1, b.count("body.lost"))
	require.NotRegexp(t, `fresh|leads|\d ms`, b.text("#nodes"), "the lease is over")
	require.Equal(t, "1  this node! unknownnot knownnot knownwhy?", strings.TrimSpace(b.text("#nodes tbody")))
	require.Zero(t, b.count("#graph .field, #graph .star[visibility=visible], #lineage .now"))
	b.shoot("lost", true)
	b.requireAccessible()
	g.Unlock()
	b.until("#summary", leads)
	b.until("#connection", func(s string) bool { return s == "● live" })
	require.Zero(t, b.count("body.lost"))
}

// An answer gets old also while no question is open, as in a tab that the browser slows down.
func TestAnAnswerGetsOld(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b, _ := openNode(t, 1280, 860, failaware.Config{ID: 1}, "")
	require.Equal(t, "true 1, false, true", eval[string](b, oldAnswer, chromedp.EvalAwaitPromise))
	require.Equal(t, []string{"1 up 60 1 true", "2 up", "1 unknown 100 0 false", "2 unknown"}, eval[[]string](b, aged, chromedp.EvalAwaitPromise))
}

// oldAnswer is an expression with whether the one answer of a source counts at once, how many
// there were, and whether it is late then, and after two seconds.
const oldAnswer = `import("/dashboard/source.js").then(async ({ Source }) => {
	const said = [], on = { world: () => {} }, s = new Source("node", on);
	s.every = 1e6;
	s.json = async () => ({});
	s.began = performance.now();
	await new Promise((done) => { on.connected = (yes) => { said.push(yes); done(); }; s.poll(); });
	const soon = s.late();
	await new Promise((done) => setTimeout(done, 2000));
	return said + " " + said.length + ", " + soon + ", " + s.late();
})`

// aged is an expression with the nodes of a picture whose leases have 100 ns, after 40 ns and
// after 200.
const aged = `import("/dashboard/model.js").then((m) => [40, 200].flatMap((time) => {
	const p = m.age(m.pictureOf({node: 1, ready: true, timing: {}, leader: {leads: true, up_to_date: true, leader: 1, at_most_ns: 100},
		view: {members: [], at_most_ns: 100, up_to_date: true}, clock: {}, members: [{node: 2, alive: true}]}, false), time);
	const [one, two] = p.nodes;
	return [["1", one.state, one.leaseLeft, p.partitions.length, one.fresh].join(" "), "2 " + two.state];
}))`

// A token that the node does not take is not the same as none.
func TestAWrongTokenIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := open(t, 1280, 860)
	_, url := servePage(t, startNode(t, failaware.Config{ID: 1}), api.NewToken())
	b.do(chromedp.Navigate(url))
	b.until("#connection", func(s string) bool { return s == "no token" })
	require.Empty(t, b.text("#login-error"))
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), "another\r"))
	b.until("#login-error", func(s string) bool { return strings.HasPrefix(s, "The node does not take this token.") })
	require.Equal(t, "wrong token", b.text("#connection"))
}

// The picture of who follows whom has a gap where nothing was known. The time without a fresh
// view that may be in it is called unknown, and is drawn as a hollow point.
func TestLanesHaveAGapWhereNothingIsKnown(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b, _ := openNode(t, 1280, 860, failaware.Config{ID: 1}, "")
	shown := eval[[]string](b, lanesWithAGap, chromedp.EvalAwaitPromise)
	require.Equal(t, []string{"2 pieces", "1000 ms, unknown", "5 ms, known"}, shown)
	const fills = `import("/dashboard/charts.js").then((c) => c.changes(() => 1)(["1", "1?"]).series.map((s) => s.points.fill === s.stroke))`
	require.Equal(t, []bool{true, false}, eval[[]bool](b, fills, chromedp.EvalAwaitPromise))
}

// lanesWithAGap is an expression with the pieces in the lane of a node that was lost for a
// second, and the times without a fresh view: that one, and one that is known.
const lanesWithAGap = `import("/dashboard/lanes.js").then(({ Lanes }) => {
	const took = [], lanes = new Lanes(document.createElement("div"), (e) => took.push(e.took + " ms, " + (e.unknown ? "unknown" : "known")));
	const up = { id: 1, state: "up", leader: 1, fresh: true }, now = Date.now();
	lanes.sample(up, now - 3000);
	lanes.lose(now - 2000);
	lanes.sample(up, now - 1000);
	lanes.draw([up], now);
	const pieces = lanes.box.querySelectorAll("rect").length;
	lanes.sample({ ...up, fresh: false }, now);
	lanes.sample(up, now + 5);
	return [pieces + " pieces", ...took];
})`
