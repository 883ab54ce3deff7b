//go:build unix

package replicate_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
)

// BenchmarkSubmit compares operations of a state in memory with bare broadcasts of the same
// order and atomicity that callers wait for. Three nodes of one process share the callers.
func BenchmarkSubmit(b *testing.B) {
	for _, quorum := range []bool{false, true} {
		for _, callers := range []int{1, 64, 1024} {
			name := fmt.Sprintf("quorum=%v/callers=%d/", quorum, callers)
			b.Run(name+"broadcast", func(b *testing.B) {
				nodes := benchNodes(b, quorum)
				opts := failaware.BroadcastOptions{Order: failaware.TotalOrder, Atomicity: failaware.StrictAtomicity}
				for _, n := range nodes {
					go drain(b.Context(), n)
				}
				shareCalls(b, callers, func(k int, payload []byte) error {
					_, err := nodes[k%3].BroadcastAndWait(b.Context(), payload, opts)
					return err
				})
			})
			b.Run(name+"submit", func(b *testing.B) {
				var replicas []*replicate.Replica
				for _, n := range benchNodes(b, quorum) {
					r, err := replicate.Start(n, &sums{}, replicate.Config{OnEvent: func(replicate.Event) {}})
					require.NoError(b, err)
					b.Cleanup(func() { _ = r.Close() })
					replicas = append(replicas, r)
				}
				for _, r := range replicas {
					for !r.Progress().Accepting {
						time.Sleep(time.Millisecond)
					}
				}
				shareCalls(b, callers, func(k int, payload []byte) error {
					_, err := replicas[k%3].Submit(b.Context(), payload)
					return err
				})
			})
		}
	}
}

// benchNodes starts three nodes on loopback, and waits until they share a view.
func benchNodes(b *testing.B, quorum bool) (nodes []*failaware.Node) {
	var peers []failaware.Peer
	for i := range 3 {
		cfg := failaware.Config{ID: failaware.NodeID(i + 1), Peers: slices.Clone(peers), MaxPacket: 60_000, Timing: failaware.WAN(),
			Broadcast: &failaware.BroadcastConfig{RequireQuorum: quorum}}
		if quorum {
			cfg.Quorum = majority(b, 3)
		}
		n, err := failaware.Start(b.Context(), cfg)
		require.NoError(b, err)
		b.Cleanup(func() { _ = n.Close() })
		nodes = append(nodes, n)
		peers = append(peers, failaware.Peer{ID: cfg.ID, Addr: n.Addr().String()})
	}
	for _, n := range nodes {
		for v := n.View(); !v.UpToDate || v.View.Set.Len() < 3; v = n.View() {
			time.Sleep(time.Millisecond)
		}
	}
	return nodes
}

// drain receives the deliveries of a node.
func drain(ctx context.Context, n *failaware.Node) {
	into := make([]failaware.Delivery, 512)
	for {
		if _, err := n.Receive(ctx, into); err != nil {
			return
		}
	}
}

// shareCalls makes b.N calls, by callers that make one after another.
func shareCalls(b *testing.B, callers int, call func(caller int, payload []byte) error) {
	var made atomic.Int64
	var all sync.WaitGroup
	before := cpuTime(b)
	b.ResetTimer()
	for k := range callers {
		all.Go(func() {
			for payload := make([]byte, 64); made.Add(1) <= int64(b.N); {
				if err := call(k, payload); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
}

func cpuTime(b *testing.B) int64 {
	var u unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return u.Utime.Nano() + u.Stime.Nano()
}

// sums is a state that is cheap to change.
type sums struct{ operations uint64 }

func (t *sums) Apply(replicate.Operation) any  { t.operations++; return nil }
func (t *sums) Merge([]replicate.Branch) error { return nil }
func (t *sums) Snapshot(w io.Writer) error     { return binary.Write(w, binary.BigEndian, t.operations) }
func (t *sums) Restore(r io.Reader) error      { return binary.Read(r, binary.BigEndian, &t.operations) }
