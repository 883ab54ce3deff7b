// Package local is a group in memory whose broadcast never fails, for tests and
// examples of replicated applications: it can be split and put together by hand.
// Nothing in it is about timing; package sim/memory has networks that fail.
package local

import (
	"context"
	"sync"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/broadcast/replica/driver"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// Hub is a group of members, which may be split into several views. Its methods
// may be called by any goroutine.
type Hub struct {
	mu      sync.Mutex
	began   time.Time
	views   uint64
	members []*Member
}

// NewHub returns a group without members.
func NewHub() *Hub { return &Hub{began: time.Now()} }

// Member is one incarnation in the group. It implements [driver.Group].
type Member struct {
	hub      *Hub
	inc      timed.Incarnation
	view     *membership.View
	position uint64
	sequence [2]uint64 // by class
	items    []driver.Item
	filled   chan struct{}
}

// Join returns a new member, which is in no view yet.
func (h *Hub) Join(id timed.NodeID) *Member {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := &Member{hub: h, inc: timed.Incarnation{Node: id, Boot: timed.BootID(len(h.members) + 1)}, filled: make(chan struct{}, 1)}
	h.members = append(h.members, m)
	return m
}

// Self returns the member's incarnation.
func (m *Member) Self() timed.Incarnation { return m.inc }

// View moves members, in the order of their ids, to a view of theirs.
func (h *Hub) View(ms ...*Member) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.views++
	v := &membership.View{ID: membership.ViewID{Sequence: h.views, Leader: ms[0].inc.Node, Boot: ms[0].inc.Boot}}
	for _, m := range ms {
		e := membership.Member{Incarnation: m.inc}
		if m.view != nil {
			e.Previous = m.view.ID
		}
		v.Members = append(v.Members, e)
		v.Set.Add(m.inc.Node)
	}
	for _, m := range ms {
		m.view, m.position = v, 0
		m.put(driver.Item{View: v})
	}
}

// Broadcast delivers a payload to all members of the view.
func (m *Member) Broadcast(_ context.Context, payload []byte, opt broadcast.Options) error {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	class := opt.Order.Class()
	m.sequence[class]++
	d := broadcast.Delivery{ID: broadcast.ID{Sender: m.inc.Node, Boot: m.inc.Boot, Class: class, Sequence: m.sequence[class]},
		Options: opt, Payload: payload}
	for _, o := range m.hub.members {
		if o.view == nil || o.view != m.view {
			continue
		}
		if class == broadcast.ClassOrdered {
			o.position++
			d.Position = o.position
		}
		o.put(driver.Item{Delivery: d})
	}
	return nil
}

func (m *Member) put(it driver.Item) {
	m.items = append(m.items, it)
	select {
	case m.filled <- struct{}{}:
	default:
	}
}

// Next returns the member's next step.
func (m *Member) Next(ctx context.Context) (driver.Item, error) {
	for {
		m.hub.mu.Lock()
		if len(m.items) > 0 {
			it := m.items[0]
			m.items = m.items[1:]
			m.hub.mu.Unlock()
			return it, nil
		}
		m.hub.mu.Unlock()
		select {
		case <-m.filled:
		case <-ctx.Done():
			return driver.Item{}, ctx.Err()
		}
	}
}

// Now returns the time since the group began.
func (m *Member) Now() timed.Instant { return timed.Instant(time.Since(m.hub.began)) }
