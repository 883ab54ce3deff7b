package member

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"slices"

	"github.com/failaware/failaware/replicate"
)

// command is an operation: client's operation number writes a value to a register.
type command struct {
	Client string `json:"c"`
	Number uint64 `json:"n"`
	Key    string `json:"k"`
	Value  uint64 `json:"v"`
	More   string `json:"m"` // padding
}

// registers are the replicated state. The fields are in snapshots.
type registers struct {
	Values map[string]uint64
	// Applied has the numbers of each client's operations, as runs of consecutive numbers.
	Applied map[string][][2]uint64
	Chain   uint64 // a hash of all operations, in order
	Again   uint64 // the count of repeated operations
}

func newRegisters() *registers {
	return &registers{Values: map[string]uint64{}, Applied: map[string][][2]uint64{}}
}

// Apply implements [replicate.Application]. It returns the previous value. An operation that
// comes again changes nothing.
func (s *registers) Apply(op replicate.Operation) any {
	var c command
	if json.Unmarshal(op.Command, &c) != nil {
		return uint64(0)
	}
	before := s.Values[c.Key]
	if !s.add(c.Client, c.Number) {
		s.Again++
		return before
	}
	s.Values[c.Key] = c.Value
	h := fnv.New64a()
	_, _ = h.Write(op.Command) // it never fails
	s.Chain = s.Chain*1_099_511_628_211 + h.Sum64()
	return before
}

// add records an operation, and reports whether it is new. The numbers of a client mostly
// come in order.
func (s *registers) add(client string, n uint64) bool {
	runs := s.Applied[client]
	at := len(runs)
	for at > 0 && runs[at-1][0] > n {
		at--
	}
	if at > 0 && n <= runs[at-1][1] {
		return false
	}
	runs = slices.Insert(runs, at, [2]uint64{n, n})
	for _, i := range []int{at + 1, at} { // join it with its neighbours
		if i > 0 && i < len(runs) && runs[i-1][1]+1 == runs[i][0] {
			runs[i-1][1] = runs[i][1]
			runs = slices.Delete(runs, i, i+1)
		}
	}
	s.Applied[client] = runs
	return true
}

// Snapshot implements [replicate.Application].
func (s *registers) Snapshot(w io.Writer) error { return json.NewEncoder(w).Encode(s) }

// Restore implements [replicate.Application].
func (s *registers) Restore(r io.Reader) error {
	next := newRegisters()
	if err := json.NewDecoder(r).Decode(next); err != nil {
		return err
	}
	*s = *next
	return nil
}

// Hash implements [replicate.Hasher].
func (s *registers) Hash() uint64 { return s.Chain }
