package store

import (
	"sync"

	"github.com/anishathalye/porcupine"

	"github.com/failaware/failaware/internal/kv"
)

// history has the calls of clients in the order of a counter.
type history struct {
	clients sync.WaitGroup
	mu      sync.Mutex
	clock   int64
	ops     []porcupine.Operation
}

func (h *history) tick() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	return h.clock
}

func (h *history) add(client int, in step, out *outcome, begin int64) {
	end := h.tick()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: begin, Return: end})
}

// check reports whether the register explains the history, and how many outcomes were
// known. A write of an unknown outcome had its effect, at any time after its call, if a
// read saw its value, which no other write has. Otherwise it explains nothing.
func (h *history) check() (ok bool, known int) {
	seen := h.seen()
	var ops []porcupine.Operation
	for _, op := range h.ops {
		if op.Output.(*outcome) != nil {
			known++
		} else if v, had := seen[op.Input.(step).write]; had {
			op.Output, op.Return = &outcome{version: v, done: true}, 1<<62
		} else {
			// It may have come between a read and a cas that failed. Any version will do
			// for that, so such a cas is left out of the history below.
			continue
		}
		ops = append(ops, op)
	}
	if len(ops) < len(h.ops) {
		ops = withoutMisses(ops)
	}
	return porcupine.CheckOperations(register, ops), known
}

// seen returns the values that were in the register, with their versions: those that were
// read, and those that a cas has replaced. What a cas saw that missed may be of a state
// that has given way, since it reads locally.
func (h *history) seen() map[string]kv.Version {
	seen := map[string]kv.Version{}
	for _, op := range h.ops {
		if out := op.Output.(*outcome); out != nil && op.Input.(step).write == "" {
			seen[out.value] = out.version
		}
	}
	for before := -1; before < len(seen); {
		before = len(seen)
		for _, op := range h.ops {
			in, out := op.Input.(step), op.Output.(*outcome)
			if _, read := seen[in.write]; in.match && (read || out != nil && out.done) {
				seen[in.saw] = in.from
			}
		}
	}
	return seen
}

// withoutMisses returns a history without the calls that changed nothing and saw nothing.
func withoutMisses(ops []porcupine.Operation) (out []porcupine.Operation) {
	for _, op := range ops {
		if op.Input.(step).write == "" || op.Output.(*outcome).done {
			out = append(out, op)
		}
	}
	return out
}
