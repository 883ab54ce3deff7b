//go:build unix

package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/hwclock"
)

// claim is one line of a node's report.
type claim struct {
	Kind      string `json:"kind"`
	Node      int    `json:"node"`
	Boot      string `json:"boot"`
	Era       uint32 `json:"era"`
	GrantedAt int64  `json:"granted_at"`
	Until     int64  `json:"until"`
	At        int64  `json:"at"`
	Renewal   bool   `json:"renewal"`
	Support   []int  `json:"support"`
	View      string `json:"view"`
	Members   []int  `json:"members"`
}

// interval is a time, by the clock that all processes share, in which a node claimed to
// lead a set, or that a view of a set is up to date.
type interval struct {
	node     int
	what     string // the incarnation that leads, or the view id
	from, to int64
	set      map[int]bool
}

func (i interval) String() string {
	return fmt.Sprintf("node %d: %s over %v in [%d, %d)", i.node, i.what, i.set, i.from, i.to)
}

func readClaims(t *testing.T, path string) (cs []claim) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if !strings.HasSuffix(sc.Text(), "}") {
			continue // the process was killed while it wrote this
		}
		var c claim
		require.NoError(t, json.Unmarshal(sc.Bytes(), &c), "%s: %s", path, sc.Text())
		cs = append(cs, c)
	}
	return cs
}

// intervals turns the claims of one node into intervals. A claim lasts until its end,
// or until a line ends it. A kill of the process does not shorten it.
func intervals(cs []claim, kind string) (out []interval) {
	open := -1
	for _, c := range cs {
		switch c.Kind {
		case kind:
			what, set := c.Node, c.Support
			name := fmt.Sprintf("%d/%s", what, c.Boot)
			if kind == "view" {
				name, set = c.View, c.Members
			}
			if open >= 0 && c.Renewal && out[open].what == name && len(out[open].set) == len(set) && out[open].to >= c.GrantedAt {
				out[open].to = max(out[open].to, c.Until)
				continue
			}
			members := map[int]bool{}
			for _, id := range set {
				members[id] = true
			}
			out = append(out, interval{node: c.Node, what: name, from: c.GrantedAt, to: c.Until, set: members})
			open = len(out) - 1
		case kind + "_end":
			if open >= 0 {
				out[open].to = min(out[open].to, c.At)
				open = -1
			}
		}
	}
	return out
}

// before returns the parts of intervals before an instant.
func before(at int64, all []interval) (cut []interval) {
	for _, i := range all {
		if i.to = min(i.to, at); i.from < i.to {
			cut = append(cut, i)
		}
	}
	return cut
}

// collide returns two claims that must not both hold at one instant: of different
// leaders, or of different views, with a common node.
func collide(all []interval) error {
	sort.Slice(all, func(a, b int) bool { return all[a].from < all[b].from })
	for i := range all {
		for j := i + 1; j < len(all) && all[j].from < all[i].to; j++ {
			if all[i].what == all[j].what {
				continue
			}
			for id := range all[i].set {
				if all[j].set[id] {
					return fmt.Errorf("both hold for %d ns and share node %d:\n%v\n%v",
						min(all[i].to, all[j].to)-all[j].from, id, all[i], all[j])
				}
			}
		}
	}
	return nil
}

// contradict returns two claims of global leaders that must not both hold at one
// instant: any two, unless they are of one incarnation.
func contradict(all []interval) error {
	sort.Slice(all, func(a, b int) bool { return all[a].from < all[b].from })
	for i := range all {
		for j := i + 1; j < len(all) && all[j].from < all[i].to; j++ {
			if all[i].what != all[j].what {
				return fmt.Errorf("two lead globally:\n%v\n%v", all[i], all[j])
			}
		}
	}
	return nil
}

// audit compares the claims of all nodes.
func (g *group) audit() (leads, views int) {
	g.t.Helper()
	// The nodes go on while their reports are read, one after the other. What came before the
	// first is read is complete in all of them.
	clock, err := hwclock.New()
	require.NoError(g.t, err)
	whole := int64(clock.Now())
	var led, viewed, global []interval
	for i := range g.ports {
		cs := readClaims(g.t, g.report(i+1))
		led = append(led, before(whole, intervals(cs, "lead"))...)
		viewed = append(viewed, before(whole, intervals(cs, "view"))...)
		global = append(global, before(whole, intervals(cs, "global"))...)
	}
	require.NotEmpty(g.t, led)
	require.NotEmpty(g.t, viewed)
	require.NoError(g.t, collide(led), "two leaders of one logical partition")
	require.NoError(g.t, collide(viewed), "two up-to-date views that overlap")
	require.NoError(g.t, contradict(global))
	g.t.Logf("%d global leads, one at a time", len(global))
	return len(led), len(viewed)
}

// The audit itself must notice conflicts.
func TestAuditSeesOverlaps(t *testing.T) {
	lead := func(node int, from, until int64, support ...int) claim {
		return claim{Kind: "lead", Node: node, Boot: "b", GrantedAt: from, Until: until, Support: support}
	}
	two := append(intervals([]claim{lead(1, 0, 100, 1, 2, 3)}, "lead"), intervals([]claim{lead(2, 99, 200, 2, 3)}, "lead")...)
	require.Error(t, collide(two))
	ended := intervals([]claim{lead(1, 0, 100, 1, 2, 3), {Kind: "lead_end", Node: 1, At: 99}}, "lead")
	require.NoError(t, collide(append(ended, intervals([]claim{lead(2, 99, 200, 2, 3)}, "lead")...)))
	apart := append(intervals([]claim{lead(1, 0, 100, 1, 3)}, "lead"), intervals([]claim{lead(2, 50, 200, 2)}, "lead")...)
	require.NoError(t, collide(apart))
	require.NoError(t, collide(before(99, two)), "what came later may not be written yet")
	require.Error(t, collide(before(100, two)))
	global := func(node int, from, until int64) claim {
		return claim{Kind: "global", Node: node, Boot: "b", GrantedAt: from, Until: until}
	}
	require.Error(t, contradict(append(intervals([]claim{global(1, 0, 100)}, "global"), intervals([]claim{global(2, 99, 200)}, "global")...)))
	require.NoError(t, contradict(append(intervals([]claim{global(1, 0, 100)}, "global"), intervals([]claim{global(2, 100, 200)}, "global")...)))
	view := func(node int, id string, from, until int64, members ...int) claim {
		return claim{Kind: "view", Node: node, View: id, GrantedAt: from, Until: until, Members: members}
	}
	renewed := view(1, "v", 50, 150, 1, 2)
	renewed.Renewal = true
	same := append(intervals([]claim{view(1, "v", 0, 100, 1, 2), renewed}, "view"), intervals([]claim{view(2, "v", 10, 90, 1, 2)}, "view")...)
	require.NoError(t, collide(same), "the same view at two nodes")
	require.Error(t, collide(append(same, intervals([]claim{view(2, "w", 149, 300, 2)}, "view")...)), "a renewal lengthens the claim")
}
