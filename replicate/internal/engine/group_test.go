package engine

import (
	"context"
	"sync"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// hub is a group of members in memory, whose broadcast never fails, and which a test
// splits into several views. Its methods may be called by any goroutine.
type hub struct {
	mu      sync.Mutex
	views   uint64
	members []*fakeMember
	order   Incarnation // by which quorums it orders messages
}

// fakeMember is one incarnation in a hub. It implements [Group].
type fakeMember struct {
	hub      *hub
	inc      Incarnation
	view     *membership.View
	position uint64
	sequence [2]uint64 // by class
	items    []Item
	ended    error // the end of its incarnation, behind the items
	filled   chan struct{}
}

// join returns a new member, which is in no view yet.
func (h *hub) join(id timed.NodeID) *fakeMember {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := &fakeMember{hub: h, inc: h.order, filled: make(chan struct{}, 1)}
	m.inc.Self = timed.Incarnation{Node: id, Boot: timed.BootID(len(h.members) + 1)}
	h.members = append(h.members, m)
	return m
}

// Begin implements [Group].
func (m *fakeMember) Begin(context.Context) (Incarnation, error) {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	return m.inc, nil
}

// end ends a member's incarnation. Another one begins in no view, if the error says so.
func (m *fakeMember) end(err error) {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	m.inc.Self.Boot += 100
	m.view, m.ended = nil, err
	m.signal()
}

// view moves members, in the order of their ids, to a view of theirs.
func (h *hub) view(ms ...*fakeMember) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.views++
	v := &membership.View{ID: membership.ViewID{Sequence: h.views, Leader: ms[0].inc.Self.Node, Boot: ms[0].inc.Self.Boot}}
	for _, m := range ms {
		e := membership.Member{Incarnation: m.inc.Self}
		if m.view != nil {
			e.Previous = m.view.ID
		}
		v.Members = append(v.Members, e)
		v.Set.Add(m.inc.Self.Node)
	}
	for _, m := range ms {
		m.view, m.position = v, 0
		m.put(Item{View: v})
	}
}

// Broadcast implements [Group]: it delivers a payload to all members of the view.
func (m *fakeMember) Broadcast(_ context.Context, payload []byte, opt broadcast.Options) error {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	class := opt.Order.Class()
	m.sequence[class]++
	d := broadcast.Delivery{ID: broadcast.ID{Sender: m.inc.Self.Node, Boot: m.inc.Self.Boot, Class: class, Sequence: m.sequence[class]},
		Options: opt, Payload: payload}
	for _, o := range m.hub.members {
		if o.view == nil || o.view != m.view {
			continue
		}
		if class == broadcast.ClassOrdered {
			o.position++
			d.Position = o.position
		}
		o.put(Item{Delivery: d})
	}
	return nil
}

func (m *fakeMember) put(it Item) {
	m.items = append(m.items, it)
	m.signal()
}

func (m *fakeMember) signal() {
	select {
	case m.filled <- struct{}{}:
	default:
	}
}

// More implements [Group].
func (m *fakeMember) More() (it Item, ok bool) {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	if len(m.items) == 0 {
		return it, false
	}
	it, m.items = m.items[0], m.items[1:]
	return it, true
}

// Next implements [Group].
func (m *fakeMember) Next(ctx context.Context) (Item, error) {
	for {
		m.hub.mu.Lock()
		if len(m.items) > 0 {
			it := m.items[0]
			m.items = m.items[1:]
			m.hub.mu.Unlock()
			return it, nil
		}
		if err := m.ended; err != nil {
			m.ended = nil
			m.hub.mu.Unlock()
			return Item{}, err
		}
		m.hub.mu.Unlock()
		select {
		case <-m.filled:
		case <-ctx.Done():
			return Item{}, ctx.Err()
		}
	}
}
