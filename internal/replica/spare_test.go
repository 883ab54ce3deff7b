package replica

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// goesOn has a joiner begin another incarnation in the middle of a transfer, in its process or
// in another one that finds the part on a disk, with or without damage. It gets the rest.
func goesOn(t testing.TB) {
	reread := func(w *world, damage bool) {
		w.nodes[2].r.HandleEnd(w.now, nil)
		part := w.nodes[2].r.Earlier().Spare
		require.NotNil(t, part)
		b, err := io.ReadAll(part.Reader())
		require.NoError(t, err)
		if damage {
			clear(b[5000:6000])
		}
		read, err := w.cfg.ReadPart((*Memory)(&b), int64(len(b)))
		require.NoError(t, err)
		require.Equal(t, !damage, equalBlocks(read.blocks, part.blocks))
		w.restart(2, 1)
		w.nodes[2] = w.node(2, 1, Earlier{Spare: read})
	}
	for _, front := range []string{"", "front"} {
		for name, again := range map[string]func(w *world){
			"incarnation": func(w *world) { w.renew(2, 1) },
			"process":     func(w *world) { reread(w, false) },
			"damaged":     func(w *world) { reread(w, true) },
		} {
			require.Less(t, cutOff(t, front, again), 37_000, "%q %v", front, name)
		}
	}
	require.Greater(t, cutOff(t, "", func(w *world) { w.restart(2, 1) }), 50_000, "nothing is left of the part")
}

func equalBlocks(a, b []block) bool {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

func TestATransferGoesOnInTheNextIncarnation(t *testing.T) { goesOn(t) }

// keepsAlone has a node with an older state be alone, in the middle of the transfer of a later one.
func keepsAlone(t testing.TB) {
	for _, again := range []func(w *world){func(*world) {}, func(w *world) { w.renew(2, 1) }} {
		text := letters(50_000)
		w := newWorld(3, Config{ChunkBytes: 100, Rate: 50_000, BlockBytes: 256})
		w.install(0, 1, 2)
		w.op(0, "a")
		w.transferInPart(text, 70_000)
		again(w)
		w.install(2)
		require.Equal(t, Working, w.nodes[2].r.Situation(), "with the older state")
		w.nodes[0].chunks, w.nodes[1].chunks = 0, 0
		w.install(0, 1, 2)
		w.run(20 * time.Second)
		all(t, w, "a"+text, 0, 1, 2)
		require.Less(t, w.nodes[0].chunks+w.nodes[1].chunks, 37_000)
	}
}

func TestATransferGoesOnAfterANodeWasAlone(t *testing.T) { keepsAlone(t) }

// scarce is bytes on a disk with little room.
type scarce struct {
	Memory
	room *int
}

func (s *scarce) Append(p []byte) error {
	if len(p) > *s.room {
		return errors.New("no room")
	}
	*s.room -= len(p)
	return s.Memory.Append(p)
}

func (s *scarce) Discard() {
	*s.room += len(s.Memory)
	s.Memory.Discard()
}

// makesRoom has a joiner receive another snapshot on a disk that has no room for that and for
// what came before.
func makesRoom(t testing.TB) {
	room := 65_000
	w := newWorld(3, Config{ChunkBytes: 100, Rate: 50_000, BlockBytes: 256, NewPart: func() Bytes { return &scarce{room: &room} }})
	text := letters(50_000)
	w.transferInPart(text, 70_000)
	w.op(0, letters(60_000)[50_000:])
	w.install(2)
	w.install(0, 1, 2)
	require.NotNil(t, w.nodes[2].r.spare)
	w.run(time.Minute)
	all(t, w, text+letters(60_000)[50_000:], 0, 1, 2)
	require.Positive(t, room)
}

func TestAPartMakesRoomForTheNext(t *testing.T) { makesRoom(t) }

// tallied counts the snapshots that come and are still there.
type tallied struct {
	Memory
	open *int
	over bool
}

func (c *tallied) Discard() {
	if !c.over {
		c.over = true
		*c.open--
	}
}

// partsEnd has nodes merge, and another one join. Of what has come, only what the application gets
// is left, which the engine discards.
func partsEnd(t testing.TB) {
	open, given := 0, 0
	w := newWorld(3, Config{ChunkBytes: 10, NewPart: func() Bytes {
		open++
		return &tallied{open: &open}
	}})
	w.install(0)
	w.op(0, "a text of node 0")
	w.install(1)
	w.op(1, "another text, of node 1")
	w.hold = func(from int, p []byte) bool {
		if from == 0 && kind(p[0]) == kindChunk && w.hold != nil {
			w.hold = nil
			var other message // the beginning of the same branch by a source that encodes it otherwise
			require.NoError(t, decode(p, &other))
			other.digest[0] ^= 1
			w.deliver(0, Effect{Kind: Broadcast, Options: unordered, Payload: encode(&other)})
		}
		return false
	}
	w.install(0, 1)
	w.run(time.Second)
	require.Nil(t, w.hold)
	given += 2 // each has the branch of the other
	require.Equal(t, given, open)
	w.install(0, 1, 2)
	w.run(time.Second)
	given++
	require.Equal(t, given, open)
	require.Equal(t, w.nodes[0].app, w.nodes[2].app)
}

func TestPartsEnd(t *testing.T) { partsEnd(t) }

// A snapshot that the application has made for a view that is over takes no room.
func TestASnapshotForAFormerViewIsDiscarded(t *testing.T) {
	open := 1
	cfg := (&Config{Self: incarnation(0), NewBytes: func() Bytes { return &tallied{open: &open} }}).WithDefaults()
	m := New(cfg, Earlier{})
	require.Empty(t, m.HandleSnapshot(0, Name{View: someView}, cfg.NewContent(), nil, nil))
	require.Zero(t, open)
	require.Empty(t, m.HandleSnapshot(0, Name{View: someView}, nil, errors.New("not now"), nil), "there is none")
}
