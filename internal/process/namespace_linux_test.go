package process

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/hwclock"
)

// hosts are network namespaces, one for each node, on bridges in a namespace of their
// own: a network that can be split like a real one, by moving ports from one bridge to
// another. It does not touch the machine's own network.
type hosts struct {
	t    *testing.T
	name string // of all namespaces: name-hub, name-1, …
	n    int
}

// hostPort is the port of the node of each namespace.
const hostPort = 7400

// newHosts creates namespaces that end with the test.
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

// claimed returns how long after an instant one of some nodes began a matching claim,
// and fails if none does.
func (g *group) claimed(kind string, at int64, ids []int, fits func(*claim) bool) time.Duration {
	g.t.Helper()
	first := int64(0)
	for _, id := range ids {
		for _, c := range readClaims(g.t, g.report(id)) {
			if c.Kind == kind && c.GrantedAt > at && fits(&c) {
				if first == 0 || c.GrantedAt < first {
					first = c.GrantedAt
				}
				break
			}
		}
	}
	require.NotZero(g.t, first, "none of %v claims a %s", ids, kind)
	return time.Duration(first - at)
}

// led returns how long after an instant some nodes had a leader that all of them
// support.
func (g *group) led(at int64, ids []int) time.Duration {
	g.t.Helper()
	return g.claimed("lead", at, ids, func(c *claim) bool { return slices.Equal(c.Support, ids) })
}

// viewed returns how long after an instant the last of some nodes began to claim an
// up-to-date view of just them.
func (g *group) viewed(at int64, ids []int) (last time.Duration) {
	g.t.Helper()
	for _, id := range ids {
		last = max(last, g.claimed("view", at, []int{id}, func(c *claim) bool { return slices.Equal(c.Members, ids) }))
	}
	return last
}

// globals returns the nodes that claimed to lead globally at some time in [from, to).
func (g *group) globals(from, to int64) (ids []int) {
	g.t.Helper()
	for id := 1; id <= len(g.ports); id++ {
		for _, i := range intervals(readClaims(g.t, g.report(id)), "global") {
			if i.from < to && i.to > from {
				ids = append(ids, id)
				break
			}
		}
	}
	return ids
}

// globally returns how long after an instant some nodes had a global leader that all of
// them support.
func (g *group) globally(at int64, ids []int) time.Duration {
	g.t.Helper()
	led := g.led(at, ids)
	return led + g.claimed("global", at+int64(led)-1, ids, func(*claim) bool { return true }) - 1
}

// awaitGlobal waits until one of the nodes reports that it leads globally, and returns
// it.
func (g *group) awaitGlobal(ids []int) (leader int) {
	g.t.Helper()
	require.Eventually(g.t, func() bool {
		for _, id := range ids {
			var a api.Global
			if g.procs[id-1].client.Get(g.t.Context(), "/v1/global", &a) == nil && a.Leads {
				leader = id
				return true
			}
		}
		return false
	}, patience, 2*time.Millisecond)
	return leader
}

// A network of eight hosts is split into 4+4 and into 5+3, and healed: each side
// has a leader of its own and one view, a side with a majority of all has the
// global leader, and no claims conflict.
func TestSplitHosts(t *testing.T) {
	bin := program(t)
	h := newHosts(t, 8)
	g := newGroupOn(h, bin, "lan", "--quorum", "majority:1,2,3,4,5,6,7,8", "--state-dir", t.TempDir())
	all := []int{1, 2, 3, 4, 5, 6, 7, 8}
	g.await(all...)
	clock, err := hwclock.New()
	require.NoError(t, err)
	status, err := g.procs[0].status(patience)
	require.NoError(t, err)
	bounds := status.Bounds
	t.Logf("the bounds: depose %v, elect %v, view %v", time.Duration(bounds.DeposeNS), time.Duration(bounds.ElectNS), time.Duration(bounds.ViewNS))
	for _, sides := range [][2][]int{{{1, 2, 3, 4}, {5, 6, 7, 8}}, {{1, 4, 5, 7, 8}, {2, 3, 6}}} {
		g.awaitGlobal(all)
		h.split(sides[1]) // one after the other: the cut is complete after the last
		cut := int64(clock.Now())
		first, second := g.await(sides[0]...), g.await(sides[1]...)
		require.Contains(t, sides[0], first)
		require.Contains(t, sides[1], second)
		majority := len(sides[0]) > len(all)/2
		if majority {
			require.Contains(t, sides[0], g.awaitGlobal(all))
		}
		// A leader from before the cut leads until its lease ends.
		settled := int64(clock.Now())
		if lease := cut + bounds.DeposeNS; lease > settled {
			time.Sleep(time.Duration(lease - settled))
			settled = lease
		}
		time.Sleep(time.Second) // as long as no other node may lead globally
		healing := int64(clock.Now())
		h.heal()
		healed := int64(clock.Now())
		g.await(all...)
		g.awaitGlobal(all)

		t.Logf("split into %v and %v: led after %v and %v, one view each after %v and %v", sides[0], sides[1],
			g.led(cut, sides[0]), g.led(cut, sides[1]), g.viewed(cut, sides[0]), g.viewed(cut, sides[1]))
		globals := g.globals(settled, healing)
		if majority {
			require.NotEmpty(t, globals)
			require.Subset(t, sides[0], globals, "no node leads globally with a minority")
			t.Logf("led globally by all of %v after %v, and by no other node", sides[0], g.globally(cut, sides[0]))
		} else {
			require.Empty(t, globals, "no node leads globally with half of all")
			t.Log("no node led globally")
		}
		t.Logf("healed: led by all after %v, globally after %v, one view after %v", g.led(healed, all), g.globally(healed, all), g.viewed(healed, all))
	}
	leads, views := g.audit()
	t.Logf("%d leads and %d up-to-date views, none in conflict", leads, views)
}
