package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/failaware/failaware/replicate"
)

// counter is a sum with an entry for each incarnation of a node that adds (a G-counter).
// Only that incarnation raises its entry, and it submits the new value, not the difference.
// So of two values the larger one includes all that the smaller one does, wherever the node
// was when it added; a command that is applied again changes nothing; and a command that
// was lost is made good by the next.
type counter map[string]uint64

func (c counter) sum() (all uint64) {
	for _, n := range c {
		all += n
	}
	return all
}

// Apply raises the entry of the incarnation that sent the operation.
func (c counter) Apply(op replicate.Operation) any {
	value, err := strconv.ParseUint(string(op.Command), 10, 64)
	if err != nil {
		return err
	}
	c.raise(fmt.Sprintf("%v/%v", op.ID.Sender, op.ID.Boot), value)
	return c.sum()
}

func (c counter) raise(entry string, value uint64) { c[entry] = max(c[entry], value) }

// Snapshot implements [replicate.Application].
func (c counter) Snapshot(w io.Writer) error { return json.NewEncoder(w).Encode(c) }

// Restore implements [replicate.Application].
func (c counter) Restore(r io.Reader) error {
	clear(c)
	return json.NewDecoder(r).Decode(&c)
}

// Merge takes the larger value of each entry.
func (c counter) Merge(branches []replicate.Branch) error {
	clear(c)
	for _, b := range branches {
		one := counter{}
		if err := one.Restore(b.State); err != nil {
			return err
		}
		for entry, value := range one {
			c.raise(entry, value)
		}
	}
	return nil
}
