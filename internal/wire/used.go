package wire

import (
	"math"

	"github.com/failaware/failaware/timed"
)

// A used frame is an array of four words of 64 bits, the set of the ids in use. It goes with
// the frame InUse, so that a node that looks for a free id need not try them all.
const usedLen = 4

func (w *writer) used(ids timed.Set) {
	w.open(typeUsed, usedLen)
	w.set(ids)
	w.close()
}

func (r *reader) used() timed.Set {
	r.array(usedLen, usedLen)
	return r.set()
}

// set writes the bits of a set as four words, the smallest ids first.
func (w *writer) set(ids timed.Set) {
	for _, word := range ids.Words() {
		w.uint(word, 0, math.MaxUint64)
	}
}

func (r *reader) set() timed.Set {
	var words [4]uint64
	for i := range words {
		words[i] = r.uint(0, math.MaxUint64)
	}
	if words[0]&1 != 0 {
		r.fail(ErrRange) // no node has the id 0
	}
	return timed.SetOfWords(words)
}
