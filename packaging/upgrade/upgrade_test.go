package upgrade

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// longest is the longest time that a group may be without an up-to-date answer while its
// nodes are replaced. It is some milliseconds on an idle machine.
const longest = 30 * time.Second

// Nodes of a former build are replaced one after the other under load. The others go on, and
// nothing that was acknowledged is lost.
func TestRollingUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program twice")
	}
	before, now := buildFormer(t), buildCurrent(t)
	casts := newGroup(t, "casts", "--broadcast", "--broadcast-require-quorum", "--quorum", "majority:1,2,3")
	keys := filepath.Join(t.TempDir(), "keys")
	run(t, before, "keygen", keys)
	stores := newGroup(t, "stores", "--key-file", keys, "--kv", "linearizable", "--quorum", "majority:1,2,3", "--kv-dir", "DIR")
	for i := range size {
		casts.start(casts.nodes[i], before)
		stores.start(stores.nodes[i], before)
	}
	casts.settle(false)
	stores.settle(true)
	casting, storing := begin(casts, cast, true), begin(stores, put, false)
	for i := range size {
		time.Sleep(2 * time.Second) // of work of the mixed group
		for _, g := range []*group{casts, stores} {
			g.stop(g.nodes[i])
			g.start(g.nodes[i], now)
			g.settle(g == stores)
		}
	}
	time.Sleep(2 * time.Second)
	casting.end()
	storing.end()

	for _, l := range []*load{casting, storing} {
		for what, gap := range l.gap {
			require.Less(t, gap, longest, "group %s: without a %s", l.g.name, what)
		}
		for _, n := range l.g.nodes {
			var a answers
			require.NoError(t, n.ask(t.Context(), "GET", "/v1/status", "", &a))
			require.Zero(t, a.Counters["dropped_version"], "this build speaks the version of the former one")
			require.Zero(t, a.Counters["dropped_malformed"])
		}
	}
	casting.check()
	storing.read()
}

// check checks the deliveries: nothing came twice, and all nodes have one order.
func (l *load) check() {
	t := l.g.t
	place := [size]map[string]int{}
	for i, list := range l.delivered {
		place[i] = map[string]int{}
		for at, text := range list {
			_, twice := place[i][text]
			require.False(t, twice, "node %d delivered %s twice", i+1, text)
			place[i][text] = at
		}
	}
	for i := range place {
		for j := range i {
			var common []int
			for _, text := range l.delivered[i] {
				if at, ok := place[j][text]; ok {
					common = append(common, at)
				}
			}
			require.NotEmpty(t, common)
			require.True(t, slices.IsSorted(common), "nodes %d and %d have the same order", i+1, j+1)
		}
	}
}

// read reads everything that was acknowledged, at every node.
func (l *load) read() {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	for _, n := range l.g.nodes {
		missing := map[string]bool{}
		for _, text := range l.acknowledged {
			missing[text] = true
		}
		after := ""
		for more := true; more; {
			var a struct {
				Items []struct {
					Key   string
					Value []byte
				}
				More bool
			}
			require.NoError(l.g.t, n.ask(ctx, "GET", "/v1/kv/list?limit=1000&after="+after, "", &a))
			for _, item := range a.Items {
				require.Equal(l.g.t, item.Key, string(item.Value))
				delete(missing, item.Key)
				after = item.Key
			}
			more = a.More
		}
		require.Empty(l.g.t, missing, "node %d has lost what was acknowledged", n.id)
	}
}
