package replicate_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/sim/memory"
)

// pages is a large state that takes little memory, because the pages are computed. Each
// operation changes one.
type pages struct {
	changes  []uint32 // by page
	restored atomic.Int64
}

const pageBytes = 16 << 10

func newPages(size int) *pages { return &pages{changes: make([]uint32, size/pageBytes)} }

func (p *pages) Apply(op replicate.Operation) any {
	p.changes[binary.BigEndian.Uint32(op.Command)%uint32(len(p.changes))]++
	return nil
}

// page computes a page. It is incompressible, and pages are different.
func (p *pages) page(i int, buffer []byte) {
	x := uint64(i)<<32 + uint64(p.changes[i])
	binary.BigEndian.PutUint64(buffer, x)
	for at := 8; at < pageBytes; at += 8 {
		x = x*0x5851f42d4c957f2d + 0x14057b7ef767814f
		binary.BigEndian.PutUint64(buffer[at:], x^x>>33)
	}
}

func (p *pages) Snapshot(w io.Writer) error {
	buffer := make([]byte, pageBytes)
	for i := range p.changes {
		p.page(i, buffer)
		if _, err := w.Write(buffer); err != nil {
			return err
		}
	}
	return nil
}

func (p *pages) Restore(r io.Reader) error {
	got, want := make([]byte, pageBytes), make([]byte, pageBytes)
	for i := range p.changes {
		if _, err := io.ReadFull(r, got); err != nil {
			return err
		}
		p.changes[i] = uint32(binary.BigEndian.Uint64(got))
		if p.page(i, want); !bytes.Equal(got, want) {
			return fmt.Errorf("page %d is wrong", i)
		}
	}
	_, err := bufio.NewReader(r).ReadByte()
	if p.restored.Add(1); !errors.Is(err, io.EOF) {
		return fmt.Errorf("behind the last page: %v", err)
	}
	return nil
}

// startPages starts a node with pages.
func startPages(t *testing.T, cfg failaware.Config, c replicate.Config, p *pages) *replicate.Replica {
	t.Helper()
	n, err := failaware.Start(t.Context(), cfg)
	require.NoError(t, err)
	r, err := replicate.Start(n, p, c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(r.Err(), r.Close())) })
	return r
}

// largeState has a joiner get a state of which SnapshotMemory holds a small part, and
// returns how many bytes of memory all nodes together took more than before.
func largeState(t *testing.T, size, inMemory int) (grown uint64) {
	synctest.Test(t, func(t *testing.T) {
		net := memory.New(memory.Options{Seed: 6, Buffer: 1 << 13})
		cast := failaware.BroadcastConfig{RequireQuorum: true, PacketBytes: 32 << 10}
		cfg := replicate.Config{SnapshotMemory: inMemory, Spool: t.TempDir()}
		start := func(id int) (*replicate.Replica, *pages) {
			p := newPages(size)
			return startPages(t, failaware.Config{ID: failaware.NodeID(id), Transport: net.Transport(), Broadcast: &cast, Quorum: majority(t, 4)}, cfg, p), p
		}
		var all []*replicate.Replica
		for i := range 4 {
			r, _ := start(i + 1)
			all = append(all, r)
		}
		meet(all[0].Node())
		_, err := all[0].Submit(t.Context(), make([]byte, 4))
		require.NoError(t, err)
		require.NoError(t, all[3].Close()) // it comes again without a state
		before := live()
		joiner, p := start(4)
		for done := uint64(0); p.restored.Load() == 0; time.Sleep(time.Millisecond) {
			if got := joiner.Progress().Bytes; got > done+uint64(size)/20 {
				done = got
				grown = max(grown, live()-min(before, live()))
			}
		}
	})
	return grown
}

// live returns the bytes of memory that are in use.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestALargeStateTakesLittleMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("measures memory: the test without the race detector does")
	}
	const size = 48 << 20
	require.Less(t, largeState(t, size, 1<<20), uint64(size/4))
}
