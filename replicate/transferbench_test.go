package replicate_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
)

var (
	transferMiB     = flag.Int("transfer.mib", 0, "measure the transfer of a state of so many MiB")
	transferClients = flag.Int("transfer.clients", 8, "how many clients submit operations meanwhile")
	transferCut     = flag.Bool("transfer.cut", false, "end the process that sends, half way")
)

// TestMeasureATransfer measures what a joiner of a busy group costs. All nodes are in this
// process, over UDP.
//
//	go test ./replicate -run MeasureATransfer -v -transfer.mib 1024
func TestMeasureATransfer(t *testing.T) {
	if *transferMiB == 0 {
		t.Skip("-transfer.mib is not set")
	}
	start, all := busyGroup(t)
	var done atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for i := range *transferClients {
		go submitPages(ctx, all[i%3], &done)
	}
	time.Sleep(2 * time.Second)
	rate := func(f func()) (perSecond float64, took time.Duration) {
		from, began := done.Load(), time.Now()
		f()
		took = time.Since(began)
		return float64(done.Load()-from) / took.Seconds(), took
	}
	before, _ := rate(func() { time.Sleep(8 * time.Second) })
	memory := resident(t)
	peak, cut, restarts := memory, !*transferCut, 0
	during, took := rate(func() {
		joiner, p := start(4)
		for last := uint64(0); p.restored.Load() == 0; time.Sleep(50 * time.Millisecond) {
			peak = max(peak, resident(t))
			got := joiner.Progress()
			if restarts += btoi(got.Bytes < last); got.Total > 0 {
				last = got.Bytes
			}
			if !cut && got.Bytes > got.Total/2 && got.Total > 0 {
				cut = true
				t.Logf("node %v ends, after %d of %d bytes", got.From, got.Bytes, got.Total)
				require.NoError(t, all[got.From-1].Close())
			}
			require.NoError(t, joiner.Err())
		}
	})
	after, _ := rate(func() { time.Sleep(8 * time.Second) })
	fmt.Printf("%d MiB in %.1f s, %.1f MiB/s; operations a second: %.0f before, %.0f during, %.0f after; memory of all nodes: %d MiB before, %d MiB more; begun again %d times\n",
		*transferMiB, took.Seconds(), float64(*transferMiB)/took.Seconds(), before, during, after, memory>>20, (peak-memory)>>20, restarts)
}

// busyGroup starts three nodes of a group of four, which the function that it returns
// completes.
func busyGroup(t *testing.T) (start func(id int) (*replicate.Replica, *pages), all []*replicate.Replica) {
	cfg := replicate.Config{Spool: t.TempDir()}
	var peers []failaware.Peer
	start = func(id int) (*replicate.Replica, *pages) {
		p := newPages(*transferMiB << 20)
		c := failaware.Config{ID: failaware.NodeID(id), Peers: slices.Clone(peers), Timing: failaware.WAN(), Quorum: majority(t, 4),
			Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}
		r := startPages(t, c, cfg, p)
		peers = append(peers, failaware.Peer{ID: c.ID, Addr: r.Node().Addr().String()})
		return r, p
	}
	for id := range 4 {
		r, _ := start(id + 1)
		all = append(all, r)
	}
	_, err := all[0].Submit(t.Context(), make([]byte, 4))
	require.NoError(t, err)
	require.NoError(t, all[3].Close())
	peers = peers[:3]
	time.Sleep(3 * time.Second)
	return start, all
}

// submitPages changes pages at random, one after the other.
func submitPages(ctx context.Context, r *replicate.Replica, done *atomic.Int64) {
	for ctx.Err() == nil {
		command := binary.BigEndian.AppendUint32(make([]byte, 0, 64), rand.Uint32())
		if _, err := r.Submit(ctx, command[:64]); err == nil {
			done.Add(1)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// resident returns the memory of this process in bytes.
func resident(t *testing.T) (bytes int) {
	b, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(b), "VmRSS:")
	require.True(t, ok)
	_, err = fmt.Sscan(rest, &bytes)
	require.NoError(t, err)
	return bytes << 10
}
