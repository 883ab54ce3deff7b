package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/failaware/failaware/replicate"
)

// counter is a sum with an entry for each process that adds (a G-counter). The name of the
// entry is in the command: a process may have several incarnations, as after a suspend, and
// none before its node runs, and what it has added so far is known in one entry. Only that
// process raises the entry, and it submits the new value, not the difference. So of two values
// the larger one includes all that the smaller one does, wherever the node was when it added; a
// command that is applied again changes nothing; and a command that was lost is made good by the
// next.
type counter map[string]uint64

func (c counter) sum() (all uint64) {
	for _, n := range c {
		all += n
	}
	return all
}

// command returns the operation that raises an entry.
func command(entry string, value uint64) []byte { return fmt.Appendf(nil, "%s %d", entry, value) }

// Apply raises the entry that the command names.
func (c counter) Apply(op replicate.Operation) any {
	entry, number, _ := strings.Cut(string(op.Command), " ")
	value, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return err
	}
	c.raise(entry, value)
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
