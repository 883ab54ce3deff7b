package sim

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/replica"
)

// opID names an operation: who made it, and which of its operations it is.
type opID [16]byte

// stateApp is a replicated application whose state tells all of its history: the
// operations that it contains, and a number that depends on the order in which
// they came, from the last restart or merge on. Two applications with equal
// states have gone the same way.
type stateApp struct {
	ops     map[opID]bool
	history uint64
	// untidy, if set, writes equal states down in different ways.
	untidy *random.Stream
}

func newStateApp() *stateApp { return &stateApp{ops: map[opID]bool{}} }

func (a *stateApp) apply(payload []byte) {
	id := opID(payload[:16])
	a.ops[id] = true
	h := fnv.New64a()
	h.Write(binary.BigEndian.AppendUint64(nil, a.history))
	h.Write(payload)
	a.history = h.Sum64()
}

// text is the state in its canonical form.
func (a *stateApp) text() []byte {
	ids := make([]opID, 0, len(a.ops))
	for id := range a.ops {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y opID) int { return bytes.Compare(x[:], y[:]) })
	return a.write(ids)
}

func (a *stateApp) write(ids []opID) []byte {
	b := binary.BigEndian.AppendUint64(nil, a.history)
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	return b
}

// snapshot is the state as this application writes it down. The initial state may
// be written as nothing.
func (a *stateApp) snapshot() []byte {
	b := a.text()
	if a.untidy == nil {
		return b
	}
	ids := b[8:]
	for i := range len(ids) / 16 {
		j := int(a.untidy.Below(int64(i + 1)))
		for k := range 16 {
			ids[16*i+k], ids[16*j+k] = ids[16*j+k], ids[16*i+k]
		}
	}
	return b
}

func (a *stateApp) restore(b []byte) {
	clear(a.ops)
	a.history = binary.BigEndian.Uint64(b)
	for b = b[8:]; len(b) > 0; b = b[16:] {
		a.ops[opID(b[:16])] = true
	}
}

// merge is the union of what the branches contain.
func (a *stateApp) merge(bs []replica.Branch) {
	all := newStateApp()
	h := fnv.New64a()
	for _, b := range bs {
		one := newStateApp()
		one.restore(b.State)
		for id := range one.ops {
			all.ops[id] = true
		}
		h.Write(b.State)
	}
	a.ops, a.history = all.ops, h.Sum64()
}

// canonical returns the canonical form of a snapshot.
func canonical(b []byte) []byte {
	a := newStateApp()
	a.restore(b)
	return a.text()
}
