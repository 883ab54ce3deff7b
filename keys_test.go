package failaware_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/seal"
	"github.com/failaware/failaware/sim/memory"
)

// keyFile writes a file with keys that only its owner can read.
func keyFile(t testing.TB, keys ...seal.Key) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	path := filepath.Join(dir, "keys")
	writeKeys(t, path, keys...)
	return path
}

func writeKeys(t testing.TB, path string, keys ...seal.Key) {
	t.Helper()
	r, err := seal.NewRing(keys...)
	require.NoError(t, err)
	require.NoError(t, r.WriteFile(path))
}

// keyed is a group whose nodes have a key file each.
type keyed struct {
	*testing.T
	net   *memory.Network
	nodes []*failaware.Node
	files []string
}

func (g *keyed) start(c failaware.Config, keys ...seal.Key) *failaware.Node {
	g.Helper()
	c.ID, c.Transport = failaware.NodeID(len(g.nodes)+1), g.net.Transport()
	path := ""
	if len(keys) > 0 {
		path = keyFile(g.T, keys...)
		c.KeyFile = path
	}
	n, err := failaware.Start(g.Context(), c)
	require.NoError(g, err)
	g.Cleanup(func() { _ = n.Close() })
	g.nodes, g.files = append(g.nodes, n), append(g.files, path)
	return n
}

// members returns how many members the view of each node has, after a while.
func (g *keyed) members() (sizes []int) {
	b := g.nodes[0].Bounds()
	time.Sleep(b.Ready + b.View + time.Millisecond)
	for _, n := range g.nodes {
		sizes = append(sizes, n.View().View.Set.Len())
	}
	return sizes
}

func (g *keyed) counter(n *failaware.Node, name string) uint64 {
	for _, c := range n.Status().Counters {
		if c.Name == name {
			return c.Value
		}
	}
	g.Fatal("no counter " + name)
	return 0
}

// Large messages are sealed once for all members, and small ones with each packet.
func TestSealedBroadcasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &keyed{T: t, net: memory.New(memory.Options{})}
		k := seal.NewKey()
		for range 3 {
			g.start(failaware.Config{MaxPacket: 65_000, Broadcast: &failaware.BroadcastConfig{PacketBytes: 60_000}}, k)
		}
		require.Equal(t, []int{3, 3, 3}, g.members())
		for _, size := range []int{10, 2000, 2100, 50_000, 500_000} {
			payload := []byte(strings.Repeat("x", size))
			for _, n := range g.nodes {
				_, err := n.Broadcast(t.Context(), payload, failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.StrongAtomicity})
				require.NoError(t, err)
			}
			for _, n := range g.nodes {
				for got := 0; got < len(g.nodes); {
					var d [1]failaware.Delivery
					_, err := n.Receive(t.Context(), d[:])
					require.NoError(t, err)
					if d[0].Change == nil {
						require.Equal(t, payload, d[0].Payload)
						got++
					}
				}
			}
		}
		for _, n := range g.nodes {
			require.Zero(t, g.counter(n, "dropped_forged")+g.counter(n, "dropped_malformed"))
		}
	})
}

// Nodes with a common key form a group. Nodes without one, and with another one, are not
// heard, and nobody answers them.
func TestKeysMakeAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &keyed{T: t, net: memory.New(memory.Options{})}
		k := seal.NewKey()
		for range 3 {
			g.start(failaware.Config{Broadcast: &failaware.BroadcastConfig{}}, k)
		}
		require.Equal(t, []int{3, 3, 3}, g.members())
		stranger := g.start(failaware.Config{Broadcast: &failaware.BroadcastConfig{}}, seal.NewKey())
		open := g.start(failaware.Config{Broadcast: &failaware.BroadcastConfig{}})
		require.Equal(t, []int{3, 3, 3, 1, 1}, g.members())
		one := g.nodes[0]
		require.Equal(t, []failaware.KeyID{k.ID()}, one.Status().Keys)
		require.Equal(t, []failaware.KeyID{k.ID()}, one.Status().Peers[0].Keys)
		peers := one.Status().Peers
		require.Len(t, peers, 4, "it learnt of nobody else, and says whose packets it cannot open")
		for i, n := range []*failaware.Node{stranger, open} {
			require.Equal(t, failaware.NoNode, peers[2+i].ID)
			require.Equal(t, n.Addr(), peers[2+i].Addr)
		}
		require.Contains(t, peers[2].String(), "its packets do not count: they are sealed with a key that this node does not have: KeyFile has ["+k.ID().String()+"] here and ["+stranger.Status().Keys[0].String()+"] there")
		require.Contains(t, peers[3].String(), "its packets do not count: they are not sealed, and this node has keys: KeyFile has ["+k.ID().String()+"] here and is not set there")
		require.NotZero(t, g.counter(one, "dropped_key"))
		require.NotZero(t, g.counter(one, "dropped_unsealed"))
		for _, n := range []*failaware.Node{stranger, open} {
			require.Zero(t, g.counter(n, "dropped_sealed")+g.counter(n, "dropped_key"), "nobody sent it anything")
		}
		require.ErrorIs(t, open.ReloadKeys(t.Context()), failaware.ErrNoKeys)
	})
}

// A key is replaced while the group runs, and no leader loses its lead.
func TestKeysAreRotatedWithoutAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &keyed{T: t, net: memory.New(memory.Options{})}
		before, after := seal.NewKey(), seal.NewKey()
		for range 3 {
			g.start(failaware.Config{}, before)
		}
		require.Equal(t, []int{3, 3, 3}, g.members())
		view := g.nodes[0].View().View.ID
		for _, ring := range [][]seal.Key{{before, after}, {after, before}, {after}} {
			for i, n := range g.nodes {
				writeKeys(t, g.files[i], ring...)
				require.NoError(t, n.ReloadKeys(t.Context()))
				time.Sleep(50 * time.Millisecond)
			}
		}
		time.Sleep(time.Second)
		for _, n := range g.nodes {
			require.Equal(t, view, n.View().View.ID)
			require.True(t, n.View().UpToDate)
			require.Equal(t, []failaware.KeyID{after.ID()}, n.Status().Peers[1].Keys)
			require.Zero(t, g.counter(n, "dropped_key")+g.counter(n, "dropped_forged")+g.counter(n, "dropped_replayed"))
		}

		require.NoError(t, os.WriteFile(g.files[0], []byte("nonsense"), 0o600))
		require.ErrorContains(t, g.nodes[0].ReloadKeys(t.Context()), "line 1: a key begins with")
		require.Equal(t, []failaware.KeyID{after.ID()}, g.nodes[0].Status().Keys, "it keeps its keys")
	})
}

// Peers with a common key and other settings are named, and those without it are not.
func TestOnlyPeersWithTheKeyAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &keyed{T: t, net: memory.New(memory.Options{})}
		k := seal.NewKey()
		one := g.start(failaware.Config{}, k)
		g.start(failaware.Config{Group: "another"}, k)
		g.start(failaware.Config{Group: "another"}, seal.NewKey())
		require.NoError(t, one.SetPeers([]failaware.Peer{{ID: 2, Addr: g.nodes[1].Addr().String()}, {ID: 3, Addr: g.nodes[2].Addr().String()}}))
		time.Sleep(time.Second)
		s := one.Status()
		require.NotEmpty(t, s.Peers[0].Mismatch)
		require.Empty(t, s.Peers[1].Mismatch)
	})
}

// The commands of keys change the file that a node names, from directories of their own.
func TestANodeNamesItsKeyFileFromTheRoot(t *testing.T) {
	path := keyFile(t, seal.NewKey())
	t.Chdir(filepath.Dir(path))
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport(), KeyFile: filepath.Base(path)})
	require.NoError(t, err)
	defer n.Close()
	require.Equal(t, path, n.KeyFile())
	require.NoError(t, n.ReloadKeys(t.Context()))
}

// The latest keys count, whichever of several calls that read the file comes to the loop last. A
// removed key would otherwise open packets until the next call.
func TestAReloadDoesNotBringBackOlderKeys(t *testing.T) {
	both := []seal.Key{seal.NewKey(), seal.NewKey()}
	path := keyFile(t, both...)
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Transport: memory.New(memory.Options{}).Transport(), KeyFile: path})
	require.NoError(t, err)
	defer n.Close()
	for i := range 300 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { assert.NoError(t, n.ReloadKeys(t.Context())) })
		}
		writeKeys(t, path, both[i%2])
		require.NoError(t, n.ReloadKeys(t.Context()))
		all.Wait()
		require.Equal(t, []failaware.KeyID{both[i%2].ID()}, n.Status().Keys, i)
	}
}

func TestKeyFilesAreChecked(t *testing.T) {
	c := failaware.Config{ID: 1, KeyFile: filepath.Join(t.TempDir(), "none")}
	_, err := failaware.Start(t.Context(), c)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "KeyFile: the key file "+c.KeyFile)
	c.Listen, c.Peers = "192.0.2.1:7000", []failaware.Peer{{ID: 2, Addr: "192.0.2.2:7000"}}
	_, err = c.Validate()
	require.NoError(t, err, "keys allow all addresses")
	c.KeyFile = ""
	_, err = c.Validate()
	require.ErrorContains(t, err, "only KeyFile or Insecure allows it")
	require.Equal(t, 2, strings.Count(err.Error(), "only KeyFile or Insecure allows it"))
}
