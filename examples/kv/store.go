package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/broadcast/replica"
)

// entry is a value and when it was written: Version counts the writes of the key
// in the branch, and Writer breaks ties between branches.
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

// store is a key-value store that every part of a split group goes on writing.
// When parts meet, each key keeps the value that was written most often since.
type store struct {
	mu   sync.Mutex // its reader is another goroutine
	keys map[string]entry
}

func newStore() *store { return &store{keys: map[string]entry{}} }

// write is one operation.
type write struct{ Key, Value string }

func (w write) encode() []byte {
	b, err := json.Marshal(w)
	if err != nil {
		panic(err) // two strings always encode
	}
	return b
}

func (s *store) Apply(op broadcast.Delivery) {
	var w write
	if json.Unmarshal(op.Payload, &w) != nil {
		return // all members skip it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[w.Key] = entry{w.Value, s.keys[w.Key].Version + 1, uint8(op.Sender)}
}

// Snapshot writes the keys in their order, so that equal stores give equal bytes.
func (s *store) Snapshot() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.Marshal(s.keys) // which sorts keys
}

func (s *store) Restore(state []byte) error {
	keys := map[string]entry{}
	if err := json.Unmarshal(state, &keys); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = keys
	return nil
}

func (s *store) Merge(branches []replica.Branch) error {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = merged
	return nil
}

func (s *store) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for i, k := range slices.Sorted(maps.Keys(s.keys)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", k, s.keys[k].Value)
	}
	return b.String()
}
