package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/failaware/failaware/replicate"
)

// entry is a value with its version: Version counts the writes of the key in the
// branch, and Writer breaks ties between branches.
type entry struct {
	Value   string
	Version uint64
	Writer  uint8
}

// newer reports whether e stays when it meets f.
func (e entry) newer(f entry) bool {
	if e.Version != f.Version {
		return e.Version > f.Version
	}
	return e.Writer > f.Writer
}

// store is a key-value store that every part of a split group continues to write. When
// parts meet, each key keeps the value that was written most often since the split.
//
// The replica calls its methods one after the other, and its readers between them, so
// it needs no lock.
type store struct{ keys map[string]entry }

func newStore() *store { return &store{map[string]entry{}} }

// write is one operation.
type write struct{ Key, Value string }

func (w write) encode() []byte {
	b, err := json.Marshal(w)
	if err != nil {
		panic(err) // two strings always encode
	}
	return b
}

// Apply returns the key's version, or an error, the same at all members.
func (s *store) Apply(op replicate.Operation) any {
	var w write
	if err := json.Unmarshal(op.Command, &w); err != nil {
		return err
	}
	version := s.keys[w.Key].Version + 1
	s.keys[w.Key] = entry{w.Value, version, uint8(op.ID.Sender)}
	return version
}

// Snapshot writes the keys in their order, so that equal stores give equal bytes.
func (s *store) Snapshot(w io.Writer) error {
	return json.NewEncoder(w).Encode(s.keys) // which sorts keys
}

// Restore replaces all keys.
func (s *store) Restore(r io.Reader) error {
	keys := map[string]entry{}
	if err := json.NewDecoder(r).Decode(&keys); err != nil {
		return err
	}
	s.keys = keys
	return nil
}

func (s *store) Merge(branches []replicate.Branch) error {
	merged := map[string]entry{}
	for _, b := range branches {
		one := newStore()
		if err := one.Restore(b.State); err != nil {
			return err
		}
		for k, e := range one.keys {
			if old, ok := merged[k]; !ok || e.newer(old) {
				merged[k] = e
			}
		}
	}
	s.keys = merged
	return nil
}

func (s *store) String() string {
	var b strings.Builder
	for i, k := range slices.Sorted(maps.Keys(s.keys)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", k, s.keys[k].Value)
	}
	return b.String()
}
