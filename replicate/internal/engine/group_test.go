package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
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
	sequence [2]uint64                    // by class
	ordered  map[timed.Incarnation]uint64 // how far the messages of each sender are
	items    []Item
	ends     []ending
	filled   chan struct{}
}

// ending is the end of an incarnation, before the last items of the next one.
type ending struct {
	before int
	err    error
}

// join returns a new member, which is in no view yet.
func (h *hub) join(id timed.NodeID) *fakeMember {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := &fakeMember{hub: h, inc: h.order, ordered: map[timed.Incarnation]uint64{}, filled: make(chan struct{}, 1)}
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
	m.view, m.ends = nil, append(m.ends, ending{err: err})
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
	all := map[timed.Incarnation]uint64{}
	for _, m := range ms {
		for of, to := range m.ordered {
			all[of] = max(all[of], to)
		}
	}
	var base []broadcast.Mark
	for of, to := range all {
		base = append(base, broadcast.Mark{Node: of.Node, Boot: of.Boot, Sequence: to})
	}
	slices.SortFunc(base, func(a, b broadcast.Mark) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Boot, b.Boot)) })
	for _, m := range ms {
		m.view, m.position, m.ordered = v, 0, maps.Clone(all)
		m.put(Item{View: v, Base: base})
	}
}

// recall notes how far the messages of each sender are in the state of a new process.
func (m *fakeMember) recall(marks []broadcast.Mark) {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	for _, x := range marks {
		m.ordered[timed.Incarnation{Node: x.Node, Boot: x.Boot}] = x.Sequence
	}
}

// Broadcast implements [Group]: it delivers a payload to all members of the view.
func (m *fakeMember) Broadcast(_ context.Context, payload []byte, opt broadcast.Options) error {
	return m.send(payload, opt, func(broadcast.ID) {})
}

// send is Broadcast. It names the message before anybody has it.
func (m *fakeMember) send(payload []byte, opt broadcast.Options, queued func(broadcast.ID)) error {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	class := opt.Order.Class()
	if q := m.inc.Quorum; q != nil && class == broadcast.ClassOrdered && (m.view == nil || !q.IsQuorum(m.view.Set)) {
		return broadcast.ErrNoQuorum
	}
	m.sequence[class]++
	d := broadcast.Delivery{ID: broadcast.ID{Sender: m.inc.Self.Node, Boot: m.inc.Self.Boot, Class: class, Sequence: m.sequence[class]},
		Options: opt, Payload: payload}
	queued(d.ID)
	for _, o := range m.hub.members {
		if o.view == nil || o.view != m.view {
			continue
		}
		if class == broadcast.ClassOrdered {
			o.position++
			d.Position = o.position
			o.ordered[m.inc.Self] = d.ID.Sequence
		}
		o.put(Item{Delivery: d})
	}
	return nil
}

func (m *fakeMember) put(it Item) {
	m.items = append(m.items, it)
	for i := range m.ends {
		m.ends[i].before++
	}
	m.signal()
}

func (m *fakeMember) signal() {
	select {
	case m.filled <- struct{}{}:
	default:
	}
}

// over reports whether the end of an incarnation is next. The caller holds mu.
func (m *fakeMember) over() bool { return len(m.ends) > 0 && len(m.items) == m.ends[0].before }

// More implements [Group].
func (m *fakeMember) More() (it Item, ok bool) {
	m.hub.mu.Lock()
	defer m.hub.mu.Unlock()
	if len(m.items) == 0 || m.over() {
		return it, false
	}
	it, m.items = m.items[0], m.items[1:]
	return it, true
}

// Next implements [Group].
func (m *fakeMember) Next(ctx context.Context) (Item, error) {
	for {
		m.hub.mu.Lock()
		if m.over() {
			err := m.ends[0].err
			m.ends = m.ends[1:]
			m.hub.mu.Unlock()
			return Item{}, err
		}
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
			return Item{}, ctx.Err()
		}
	}
}
