package process

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/hwclock"
)

// hosts are network namespaces, one for each node, on bridges in a namespace of
// their own: a network that can be split as real ones are, by moving ports from
// one bridge to another. Nothing of it touches the machine's own network.
type hosts struct {
	t    *testing.T
	name string // of all namespaces: name-hub, name-1, …
	n    int
}

// hostPort is where the node of each namespace listens.
const hostPort = 7400

// newHosts makes namespaces that end with the test.
func newHosts(t *testing.T, n int) *hosts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("network namespaces need the ip command of iproute2")
	}
	h := &hosts{t: t, name: fmt.Sprintf("failaware-%d", os.Getpid()), n: n}
	if out, err := exec.Command("ip", "netns", "add", h.hub()).CombinedOutput(); err != nil {
		t.Skipf("no network namespaces here: %s", out)
	}
	t.Cleanup(func() { h.ip("netns", "del", h.hub()) })
	for _, bridge := range []string{"br0", "br1"} {
		h.ip("-n", h.hub(), "link", "add", bridge, "type", "bridge")
		h.ip("-n", h.hub(), "link", "set", bridge, "up")
	}
	for id := 1; id <= n; id++ {
		h.ip("netns", "add", h.of(id))
		t.Cleanup(func() { h.ip("netns", "del", h.of(id)) })
		h.ip("-n", h.hub(), "link", "add", port(id), "type", "veth", "peer", "name", "eth0", "netns", h.of(id))
		h.ip("-n", h.hub(), "link", "set", port(id), "master", "br0", "up")
		h.ip("-n", h.of(id), "addr", "add", h.addr(id)+"/24", "dev", "eth0")
		h.ip("-n", h.of(id), "link", "set", "eth0", "up")
		h.ip("-n", h.of(id), "link", "set", "lo", "up")
	}
	return h
}

func (h *hosts) hub() string        { return h.name + "-hub" }
func (h *hosts) of(id int) string   { return fmt.Sprintf("%s-%d", h.name, id) }
func (h *hosts) addr(id int) string { return fmt.Sprintf("10.77.0.%d", id) }
func (h *hosts) in(id int) []string { return []string{"ip", "netns", "exec", h.of(id)} }
func port(id int) string            { return fmt.Sprintf("port%d", id) }
func (h *hosts) ip(arguments ...string) {
	h.t.Helper()
	out, err := exec.Command("ip", arguments...).CombinedOutput()
	require.NoError(h.t, err, "ip %s: %s", strings.Join(arguments, " "), out)
}

// split moves the ports of some nodes to the other bridge, and heal moves all back.
func (h *hosts) split(ids []int) { h.move(ids, "br1") }

func (h *hosts) heal() {
	for id := 1; id <= h.n; id++ {
		h.move([]int{id}, "br0")
	}
}

func (h *hosts) move(ids []int, bridge string) {
	h.t.Helper()
	for _, id := range ids {
		h.ip("-n", h.hub(), "link", "set", port(id), "master", bridge)
	}
}

// newGroupOn starts a node in each namespace.
func newGroupOn(h *hosts, bin, preset string, extra ...string) *group {
	g := &group{t: h.t, bin: bin, dir: h.t.TempDir(), preset: preset, extra: append(extra, "--insecure"), in: h.in}
	for id := 1; id <= h.n; id++ {
		g.hosts, g.ports = append(g.hosts, h.addr(id)), append(g.ports, hostPort)
	}
	g.startAll()
	return g
}

// since returns how long after an instant the last of some nodes began to claim an
// up-to-date view of just them.
func (g *group) since(at int64, ids []int) time.Duration {
	g.t.Helper()
	last := int64(0)
	for _, id := range ids {
		first := int64(0)
		for _, i := range intervals(readClaims(g.t, g.report(id)), "view") {
			whole := len(i.set) == len(ids)
			for _, member := range ids {
				whole = whole && i.set[member]
			}
			if whole && i.from > at && (first == 0 || i.from < first) {
				first = i.from
			}
		}
		require.NotZero(g.t, first, "node %d claims no view of %v", id, ids)
		last = max(last, first)
	}
	return time.Duration(last - at)
}

// A network of eight hosts is split into 4+4 and into 5+3, and healed: each side
// has a leader of its own and one view, and no claims conflict.
func TestSplitHosts(t *testing.T) {
	bin := program(t)
	h := newHosts(t, 8)
	g := newGroupOn(h, bin, "lan")
	all := []int{1, 2, 3, 4, 5, 6, 7, 8}
	g.await(all...)
	clock, err := hwclock.New()
	require.NoError(t, err)
	status, err := g.procs[0].status(patience)
	require.NoError(t, err)
	bound := time.Duration(status.Bounds.ViewNS)
	for _, sides := range [][2][]int{{{1, 2, 3, 4}, {5, 6, 7, 8}}, {{1, 4, 5, 7, 8}, {2, 3, 6}}} {
		cut := int64(clock.Now())
		h.split(sides[1])
		first, second := g.await(sides[0]...), g.await(sides[1]...)
		require.Contains(t, sides[0], first)
		require.Contains(t, sides[1], second)
		healed := int64(clock.Now())
		h.heal()
		g.await(all...)
		t.Logf("split into %v and %v: one view each after %v and %v; healed: one view of all after %v; the bound is %v",
			sides[0], sides[1], g.since(cut, sides[0]), g.since(cut, sides[1]), g.since(healed, all), bound)
	}
	leads, views := g.audit()
	t.Logf("%d leads and %d up-to-date views, none in conflict", leads, views)
}
