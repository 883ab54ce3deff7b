package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
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
