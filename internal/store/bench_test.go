package store

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/kv"
	"github.com/failaware/failaware/leader/quorum"
)

// benchGroup starts three nodes of this process, which send UDP packets over loopback.
func benchGroup(b *testing.B, kind kv.Kind, stored bool) (stores []*Store) {
	majority, err := quorum.Parse("majority:1,2,3")
	require.NoError(b, err)
	var addrs []string
	for range 3 {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		require.NoError(b, err)
		addrs = append(addrs, c.LocalAddr().String())
		require.NoError(b, c.Close())
	}
	for i := range addrs {
		cfg := failaware.Config{ID: failaware.NodeID(i + 1), Listen: addrs[i], Timing: failaware.LAN(), RaiseProcs: true,
			Broadcast: &failaware.BroadcastConfig{RequireQuorum: kind == kv.Linearizable}}
		for k, addr := range addrs {
			if k != i {
				cfg.Peers = append(cfg.Peers, failaware.Peer{ID: failaware.NodeID(k + 1), Addr: addr})
			}
		}
		c := Config{Kind: kind}
		if kind == kv.Linearizable {
			cfg.Quorum = majority
		}
		if stored {
			cfg.StateDir, c.Dir = filepath.Join(b.TempDir(), "state"), filepath.Join(b.TempDir(), "kv")
		}
		s := startStore(b, cfg, c)
		b.Cleanup(func() { _ = s.Close() })
		stores = append(stores, s)
	}
	for fresh := (failaware.Set{}); fresh.Len() < 3; { // all must be in the view
		time.Sleep(50 * time.Millisecond)
		fresh = stores[0].node.View().View.Set
	}
	return stores
}

// BenchmarkStore measures one of three nodes: puts of 64 bytes, and reads.
func BenchmarkStore(b *testing.B) {
	value := []byte(strings.Repeat("v", 64))
	for _, where := range []string{"memory", "disk"} {
		b.Run(where, func(b *testing.B) {
			s := benchGroup(b, kv.Linearizable, where == "disk")[0]
			var n atomic.Uint64
			put := func() error {
				_, err := s.Submit(b.Context(), kv.Command{Op: kv.Put, Key: fmt.Sprint("key", n.Add(1)%10_000), Value: value}, api.Attempt{})
				return err
			}
			read := func(latest bool) func() error {
				return func() error {
					_, err := s.Read(b.Context(), latest, func(st *kv.State) { st.Get("key1") })
					return err
				}
			}
			for _, callers := range []int{1, 16, 256} {
				b.Run(fmt.Sprintf("put/%d", callers), func(b *testing.B) { measure(b, callers, put) })
				b.Run(fmt.Sprintf("get/%d", callers), func(b *testing.B) { measure(b, callers, read(true)) })
			}
			s.cfg.LeasedReads = true
			b.Run("leased", func(b *testing.B) { measure(b, 1, read(true)) })
			b.Run("local", func(b *testing.B) { measure(b, 1, read(false)) })
		})
	}
}

// measure has some callers call f.
func measure(b *testing.B, callers int, f func() error) {
	var calls, failed atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	b.ResetTimer()
	for range callers {
		all.Go(func() {
			for calls.Add(1) <= int64(b.N) {
				if f() != nil {
					failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "per_second")
	b.ReportMetric(float64(failed.Load()), "failed")
}
