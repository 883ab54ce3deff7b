package browsertest

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
)

// startNode starts a node that ends with the test.
func startNode(t *testing.T, cfg failaware.Config) *failaware.Node {
	t.Helper()
	cfg.Timing = failaware.LAN()
	n, err := failaware.Start(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// A node shows what it knows, and says what it does not. Without the token it shows
// nothing.
func TestANodeShowsWhatItKnows(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := open(t, 1280, 860)
	one := startNode(t, failaware.Config{ID: 1, Name: "alpha"})
	startNode(t, failaware.Config{ID: 2, Peers: []failaware.Peer{{ID: 1, Addr: one.Addr().String()}}})
	token := api.NewToken()
	_, url := servePage(t, one, token)

	b.do(chromedp.Navigate(url + "#token=wrong"))
	b.until("#connection", func(s string) bool { return s == "wrong token" })
	require.Empty(t, b.text("#nodes"))
	b.requireAccessible()
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), token+"\r"))
	b.until("#summary", regexp.MustCompile(`^As node 1 knows: node [12] leads \{1 2\}, view fresh( at node 1)?$`).MatchString)
	b.until("#known", func(s string) bool { return strings.Contains(s, "the links between other nodes are not known here") })
	b.until("#scope", func(s string) bool { return s == "default · node 1" })
	b.untilShown(regexp.MustCompile(`leads`), map[string]int{"#graph .node": 2, "#graph .node.told": 1, "#graph .link": 1, "#do-split": 0})
	b.until("#timeline", func(s string) bool { return strings.Contains(s, "members {1 2}") })
	b.settle()
	b.shoot("node", true)
	b.requireAccessible()

	b.do(chromedp.Navigate(url + "#token=" + token))
	b.until("#connection", func(s string) bool { return s == "● live" })
	require.NotContains(t, eval[string](b, "location.href"), token)
}

// The lines of packets that are sent and received differ without colours, which are those of
// nodes elsewhere, and the legend has the same lines.
func TestDirectionsOfPacketsDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b, _ := openNode(t, 1280, 860, failaware.Config{ID: 1}, api.NewToken())
	b.until("#traffic-text", func(s string) bool { return strings.Contains(s, "packets/s received") })
	const lines = `import("/dashboard/charts.js").then((c) => c.rates(["received", "sent"]).series.map((l) => l.dash.join(" ") + " " + l.stroke))`
	color := func(name string) string {
		return eval[string](b, fmt.Sprintf("getComputedStyle(document.documentElement).getPropertyValue(%q).trim()", name))
	}
	require.Equal(t, []string{" " + color("--faint"), "6 4 " + color("--ink")}, eval[[]string](b, lines, chromedp.EvalAwaitPromise))
	require.Equal(t, []string{" received", "6 4 sent"}, eval[[]string](b,
		`[...document.querySelectorAll("#traffic-note span")].map((e) => e.querySelector("path").getAttribute("stroke-dasharray") + " " + e.textContent.trim())`))
	b.shoot("directions", true)
	b.requireAccessible()
	b.requireNoErrors()
}
