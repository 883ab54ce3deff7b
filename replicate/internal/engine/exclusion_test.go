package engine

import (
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/timed"
)

// shy is an application that does not want to be read while it changes.
type shy struct {
	words
	changes func(what string)
}

func (s *shy) Apply(op broadcast.Delivery) any {
	s.changes("Apply")
	return s.words.Apply(op)
}

func (s *shy) Load(r io.Reader) error {
	s.changes("Load")
	return s.words.Load(r)
}

func (s *shy) Merge(bs []replica.Branch) error {
	s.changes("Merge")
	return s.words.Merge(bs)
}

// seenChanging has somebody read each application whenever it changes. It returns the changes
// that a reader has seen.
func seenChanging(t *testing.T) (seen []string) {
	met := map[string]bool{}
	var mu sync.Mutex
	synctest.Test(t, func(t *testing.T) {
		h := new(hub)
		var all []*member
		for id := timed.NodeID(1); id <= 3; id++ {
			app := &shy{}
			m := &member{app: &app.words, group: h.join(id), err: make(chan error, 1)}
			e, err := New(replica.Config{HashEvery: 2}, m.group, app, nil, nil, nil)
			require.NoError(t, err)
			m.Engine = e
			app.changes = func(what string) {
				read := make(chan struct{})
				go e.Read(func() { close(read) })
				for range 1000 {
					runtime.Gosched()
				}
				mu.Lock()
				defer mu.Unlock()
				met[what] = true
				select {
				case <-read:
					seen = append(seen, what)
				default:
				}
			}
			go func() { m.err <- e.Run(t.Context()) }()
			all = append(all, m)
		}
		a, b, c := all[0], all[1], all[2]
		h.view(a.group, b.group)
		a.submit(t, "one")
		h.view(b.group)
		h.view(a.group, c.group)
		b.submit(t, "two")
		c.submit(t, "three")
		synctest.Wait()
		h.view(a.group, b.group, c.group)
		b.submit(t, "four")
		time.Sleep(time.Second)
		synctest.Wait()
	})
	require.Len(t, met, 3, "each kind of change")
	slices.Sort(seen)
	return slices.Compact(seen)
}

func TestNobodySeesAStateThatChanges(t *testing.T) { require.Empty(t, seenChanging(t)) }
