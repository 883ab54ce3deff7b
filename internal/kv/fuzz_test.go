package kv

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

func commands() []Command {
	d, r := Dot{3, 4}, at(line(2), time.Hour, time.Millisecond)
	return []Command{
		{Op: Put, Dot: d, At: r, Key: "key", Value: []byte("value"), Match: true, Version: Version{17, 3}, Lease: Dot{1, 2}},
		{Op: Put, Dot: d, At: r, Key: "key", Value: []byte{}, TTL: time.Second},
		{Op: Delete, Dot: d, At: r, Key: "ä", Value: []byte{}},
		{Op: Grant, Dot: d, At: r, Value: []byte{}, TTL: time.Hour},
		{Op: Renew, Dot: d, At: r, Value: []byte{}, Lease: Dot{1, 2}},
		{Op: Tick, Dot: d, At: r, Value: []byte{}},
		{Op: Tick, Dot: d, At: r, Value: []byte{}, Seen: 1 << 40},
		{Op: Resolve, Dot: d, At: r, Key: "key", Value: []byte{}, Lease: Dot{1, 2}},
	}
}

func TestCommandsAreDecoded(t *testing.T) {
	for _, c := range commands() {
		got, err := Decode(c.Encode())
		require.NoError(t, err)
		require.Equal(t, c, got)
	}
	for what, c := range map[string]Command{
		"no name": {Op: Put, Key: "a"}, "no key": {Op: Put, Dot: Dot{1, 1}}, "no text": {Op: Put, Dot: Dot{1, 1}, Key: "\xff"},
		"a line": {Op: Put, Dot: Dot{1, 1}, Key: "a\n"}, "no op": {Dot: Dot{1, 1}}, "no lease": {Op: Grant, Dot: Dot{1, 1}},
		"another op": {Op: Resolve + 1, Dot: Dot{1, 1}}, "a short time": {Op: Put, Dot: Dot{1, 1}, Key: "a", TTL: 1},
		"a large value": {Op: Put, Dot: Dot{1, 1}, Key: "a", Value: make([]byte, MaxValueBytes+1)},
	} {
		require.Error(t, c.Check(), what)
		require.Equal(t, Invalid, New(Linearizable).Apply(c.Encode()).Status, what)
	}
	whole := commands()[0]
	b := whole.Encode()
	for n := range len(b) {
		_, err := Decode(b[:n])
		require.ErrorIs(t, err, ErrDamaged)
	}
	_, err := Decode(append(b, 0))
	require.ErrorIs(t, err, ErrDamaged)
}

func FuzzDecode(f *testing.F) {
	for _, c := range commands() {
		f.Add(c.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Decode(b)
		s := New(Partitionable)
		r := s.Apply(b)
		if err != nil {
			require.Equal(t, Invalid, r.Status)
			return
		}
		again, err := Decode(c.Encode())
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}

func FuzzRestore(f *testing.F) {
	for seed := range uint64(4) {
		w := newRandom(f, seed)
		w.play()
		f.Add(written(f, w.parts[0].s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := New(Partitionable)
		if s.Restore(bytes.NewReader(b)) != nil {
			require.Equal(t, New(Partitionable), s, "nothing has changed")
			return
		}
		// What was read can be used, written and read.
		for _, c := range commands() {
			s.Apply(c.Encode())
		}
		s.Merge([]*State{s, New(Partitionable)})
		require.NoError(t, New(Partitionable).Restore(bytes.NewReader(written(t, s))))
	})
}

// Every damage of a snapshot is refused, or gives a state that can be written.
func TestDamagedSnapshotsAreRefused(t *testing.T) {
	w := newRandom(t, 1)
	w.play()
	b := written(t, w.parts[0].s)
	s := New(Partitionable)
	require.ErrorIs(t, s.Restore(bytes.NewReader(nil)), ErrDamaged)
	for range 300 {
		require.ErrorIs(t, s.Restore(bytes.NewReader(b[:rand.IntN(len(b))])), ErrDamaged)
		require.Equal(t, New(Partitionable), s, "a part of a state is none")
	}
	require.ErrorIs(t, New(Partitionable).Restore(bytes.NewReader(append(bytes.Clone(b), 0))), ErrDamaged)
	unread := errors.New("input/output error")
	require.ErrorIs(t, New(Partitionable).Restore(io.MultiReader(bytes.NewReader(b), iotest.ErrReader(unread))), unread, "nothing follows")
	require.ErrorContains(t, New(Linearizable).Restore(bytes.NewReader(b)), "this store is linearizable, and the state is of one that is partitionable")
}
