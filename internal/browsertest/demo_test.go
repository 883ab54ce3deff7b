package browsertest

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/demo"
)

// startDemo starts five nodes with the page, and returns its address.
func startDemo(t *testing.T) string {
	t.Helper()
	world, err := demo.NewWorld(demo.Options{Nodes: 5, Preset: "lan", Talk: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, world.Close()) })
	require.NoError(t, world.StartAll())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- demo.NewWeb(ctx, world, "test").Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
	})
	return "http://" + l.Addr().String() + "/"
}

var (
	whole  = regexp.MustCompile(`^One leader · node \d leads \{1 2 3 4 5\}, view fresh$`)
	halves = regexp.MustCompile(`^2 leaders · node [12] leads \{1 2\}, view fresh · node [345] leads \{3 4 5\}, view fresh$`)
)

// The group is split and healed through the page, which shows at each step what the
// nodes agree on.
func TestTheNetworkIsCutThroughThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := open(t, 1440, 900)
	b.dark(false)
	b.do(chromedp.Navigate(startDemo(t)))
	b.untilShown(whole, map[string]int{"#graph .node": 5, "#graph .link": 20, "#graph .field": 1, "#graph .ring.fresh": 5})
	b.requireAccessible()
	b.shoot("one-group", false)

	b.click(`#graph [data-node="1"]`)
	b.do(chromedp.KeyEvent("2"))
	b.until("#controls .chosen", func(s string) bool { return strings.HasPrefix(s, "Selected: 1, 2.") })
	b.click("#do-split")
	b.untilShown(halves, map[string]int{"#graph .field": 2, "#graph .ring.fresh": 5, "#graph .link.dx": 12, "#links .dx": 12})
	b.do(chromedp.KeyEvent("0"))
	b.until("#controls .chosen", func(s string) bool { return strings.HasPrefix(s, "Select nodes") })
	b.settle()
	b.shoot("split", true)
	b.requireAccessible()

	b.click(`[aria-label="Why is the view of node 3 as it is?"]`)
	b.until("#why", func(s string) bool { return strings.Contains(s, "of {3 4 5}") })
	b.requireAccessible()
	b.shoot("why", false)
	b.do(chromedp.KeyEvent(kb.Escape))
	require.Zero(t, b.count("dialog[open]"))

	b.dark(true)
	b.click("#do-heal")
	b.until("#summary", whole.MatchString)
	b.until("#timeline", func(s string) bool { return strings.Contains(s, "branches: {1 2} from") })
	b.settle()
	b.shoot("healed-dark", true)
	b.requireAccessible()

	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2)))
	b.settle()
	b.shoot("phone", true)
	b.requireAccessible()
	b.requireNoErrors()
}

// All links are cut, so that there are as many partitions as nodes. Their titles stay apart
// and in the picture, and what axes say fits beside them.
func TestManyPartitionsCanBeRead(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := open(t, 1440, 900)
	b.dark(false)
	b.do(chromedp.Navigate(startDemo(t)))
	b.until("#summary", whole.MatchString)
	b.do(chromedp.KeyEvent("1"), chromedp.KeyEvent("2"), chromedp.KeyEvent("3"), chromedp.KeyEvent("4"), chromedp.KeyEvent("5"))
	b.click("#do-cut")
	b.untilShown(regexp.MustCompile(`^5 leaders · `), map[string]int{"#graph .field": 5})
	b.settle()
	b.shoot("alone", true)
	require.Empty(t, eval[string](b, collisions))
	b.do(chromedp.EmulateViewport(390, 844, chromedp.EmulateScale(2)))
	b.settle()
	b.shoot("alone-phone", true)
	require.Empty(t, eval[string](b, collisions))

	require.Equal(t, []string{"0 ms", "4999 ms", "0 s", "2.5 s", "15 s", "-250 µs", "7/s"}, eval[[]string](b, `import("/dashboard/charts.js").then((c) =>
		[c.withUnit(" ms", " s")(0, [0, 4999]), c.withUnit(" ms", " s")(0, [0, 2500, 15000]), c.withUnit(" µs", " ms")(0, [-250]), c.withUnit("/s", "k/s")(0, [7])].flat())`,
		chromedp.EvalAwaitPromise))
	require.Equal(t, []string{"deaf", "1", "silent", "x"}, eval[[]string](b, fmt.Sprintf(deafAndSilent, 0), chromedp.EvalAwaitPromise))
	require.Equal(t, []string{"unknown", "0", "unknown", "0"}, eval[[]string](b, fmt.Sprintf(deafAndSilent, -1), chromedp.EvalAwaitPromise))
	b.requireNoErrors()
}

// deafAndSilent is an expression with what the page of a node shows of a peer that does not
// hear the node, and of one that it does not hear: the state, and the grade of the link. The
// answer has an age, which is -1 if the loop of the node is stalled.
const deafAndSilent = `import("/dashboard/model.js").then((m) => {
	const p = m.pictureOf({node: 1, age_ns: %d, ready: true, timing: {}, leader: {}, view: {members: []}, clock: {}, members: [
		{node: 2, deaf: true, fast: true, delay_ns: 1000}, {node: 3, fast: true, delay_ns: 1000}]}, false);
	return p.links.flatMap((l) => [p.byID.get(l.from).state, String(m.grade(l, 1e6))]);
})`

// collisions is an expression that names the first title of a partition that leaves the
// picture or covers another text of it.
const collisions = `(() => {
	const texts = [...document.querySelectorAll("#graph .title, #graph .sub")].filter((e) => e.textContent).map((e) => [e.textContent, e.getBoundingClientRect(), e]);
	const all = document.querySelector("#graph svg").getBoundingClientRect();
	for (const [text, a, e] of texts) {
		if (!e.matches(".title")) continue;
		if (a.left < all.left || a.right > all.right || a.top < all.top) return text + " leaves the picture";
		const hit = texts.find(([, b, other]) => other !== e && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom);
		if (hit) return text + " covers " + hit[0];
	}
	return "";
})()`

// requireAccessible requires that axe-core finds no serious barrier.
func (b *tab) requireAccessible() {
	b.t.Helper()
	found := b.barriers()
	for _, f := range found {
		b.t.Log(f)
	}
	require.False(b.t, slices.ContainsFunc(found, func(f string) bool {
		return strings.HasPrefix(f, "serious") || strings.HasPrefix(f, "critical")
	}))
}
