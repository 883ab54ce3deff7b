package main

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/failaware/failaware/replicate"
)

// counter is a sum with an entry for each node that adds (a G-counter). A node adds in
// one part of a split group at a time, so of two branches one knows all that the other
// knows of this node: the merge takes the larger entry.
type counter [256]uint64

func (c *counter) sum() (all uint64) {
	for _, n := range c {
		all += n
	}
	return all
}

// Apply adds what the node that sent the operation wants to add.
func (c *counter) Apply(op replicate.Operation) any {
	by, err := strconv.ParseUint(string(op.Command), 10, 32)
	if err != nil {
		return err
	}
	c[op.ID.Sender] += by
	return c.sum()
}

// Snapshot implements [replicate.Application].
func (c *counter) Snapshot(w io.Writer) error { return json.NewEncoder(w).Encode(c) }

// Restore implements [replicate.Application].
func (c *counter) Restore(r io.Reader) error { return json.NewDecoder(r).Decode(c) }

// Merge takes the larger entry of each node.
func (c *counter) Merge(branches []replicate.Branch) error {
	*c = counter{}
	for _, b := range branches {
		var one counter
		if err := one.Restore(b.State); err != nil {
			return err
		}
		for id, n := range one {
			c[id] = max(c[id], n)
		}
	}
	return nil
}
