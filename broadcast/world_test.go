package broadcast

import (
	"time"

	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// trio is a few directly wired machines in one view. A packet reaches the other
// machines at once, in memory, unless a test drops it.
type trio struct {
	now       timed.Instant
	beat      timed.Instant // when bare headers were last sent
	nodes     []*Service
	view      *membership.View
	out       []Effect
	delivered [][]Delivery
	payloads  [][]string
	count     []int
	keep      bool
	take      func(i int, d *Delivery) // the application takes a delivery
	slow      []bool                   // applications that take nothing for now
	owed      [][2]int                 // by machine: the bytes and the count of what these have not taken
	drop      func(from, to int, p *Packet) bool
	ahead     [3]time.Duration // of the first machines' clocks
	effects   []Effect         // other than Send and Deliver
}

func incarnation(i int) timed.Incarnation {
	return timed.Incarnation{Node: timed.NodeID(i + 1), Boot: timed.BootID(100 + i)}
}

// viewOf returns a view of nodes in ascending order. The first of them leads it.
func viewOf(sequence uint64, nodes ...int) *membership.View {
	v := &membership.View{ID: membership.ViewID{Sequence: sequence, Leader: incarnation(nodes[0]).Node, Boot: incarnation(nodes[0]).Boot}}
	for _, i := range nodes {
		v.Members = append(v.Members, membership.Member{Incarnation: incarnation(i)})
		v.Set.Add(incarnation(i).Node)
	}
	return v
}

// newTrio returns n machines that have installed a view of all.
func newTrio(n int, cfg Config) *trio {
	t := &trio{now: timed.Instant(time.Second), delivered: make([][]Delivery, n), payloads: make([][]string, n), count: make([]int, n), owed: make([][2]int, n)}
	all := make([]int, n)
	for i := range n {
		c := cfg
		c.Self, c.Timing = incarnation(i), timed.LAN()
		t.nodes = append(t.nodes, New(c))
		all[i] = i
	}
	t.install(viewOf(1, all...))
	return t
}

// install moves the members of v to it without loss.
func (t *trio) install(v *membership.View) {
	lead := int(v.ID.Leader) - 1
	t.nodes[lead].Freeze(t.now, v, true)
	for _, m := range v.Members {
		if i := int(m.Node) - 1; i != lead {
			t.nodes[i].Freeze(t.now, v, false)
		}
	}
	for range 20 {
		t.turn()
		t.now = t.now.Add(3 * time.Millisecond)
	}
	terms := t.nodes[lead].freeze.terms
	for _, m := range v.Members {
		i := int(m.Node) - 1
		for _, c := range terms {
			t.nodes[i].handleCommit(incarnation(lead), c)
		}
		if !t.nodes[i].CanInstall(v.ID) {
			panic("a member cannot install the view")
		}
		t.out = t.nodes[i].Install(t.now, v, t.out[:0])
		t.perform(i)
	}
	t.view = v
}

func (t *trio) reading(i int) clocksync.Reading {
	r := clocksync.Reading{Time: clocksync.Time(t.now), Deviation: 10}
	if i < len(t.ahead) {
		r.Time += clocksync.Time(t.ahead[i])
	}
	return r
}

func (t *trio) cast(i int, payload []byte, opt Options) (ID, error) {
	return t.nodes[i].Broadcast(t.reading(i), payload, opt)
}

// turn lets each machine act once. Its packets arrive before the next machine acts.
func (t *trio) turn() {
	for i := range t.nodes {
		t.act(i)
	}
}

// act is a turn of one machine.
func (t *trio) act(i int) {
	t.nodes[i].Reclaim()
	t.out = t.nodes[i].HandleTimeout(t.now, t.reading(i), t.out[:0])
	t.perform(i)
}

// perform performs the effects.
func (t *trio) perform(i int) {
	for k := range t.out {
		e := &t.out[k]
		switch e.Kind {
		case Send:
			for j := range t.nodes {
				if j != i && (e.Peer == incarnation(j).Node || e.Peer == timed.NoNode && t.nodes[i].view.Set.Has(incarnation(j).Node)) &&
					(t.drop == nil || !t.drop(i, j, e.Packet)) {
					t.nodes[j].HandlePacket(t.now, incarnation(i), e.Packet, nil)
				}
			}
		case Deliver:
			t.count[i] += len(e.Deliveries)
			bytes := 0
			for d := range e.Deliveries {
				bytes += len(e.Deliveries[d].Payload)
				if t.take != nil {
					t.take(i, &e.Deliveries[d])
				}
				if t.keep {
					t.delivered[i] = append(t.delivered[i], e.Deliveries[d])
					t.payloads[i] = append(t.payloads[i], string(e.Deliveries[d].Payload))
				}
			}
			t.consume(i, bytes, len(e.Deliveries))
		default:
			t.effects = append(t.effects, *e)
		}
	}
}

// consume has an application take deliveries, unless it is slow.
func (t *trio) consume(i, bytes, count int) {
	if t.slow == nil || !t.slow[i] {
		t.nodes[i].Consumed(bytes, count)
		return
	}
	t.owed[i][0] += bytes
	t.owed[i][1] += count
}

// catchUp has slow applications take all that waits, as far as they are to.
func (t *trio) catchUp(may func(i int) bool) {
	for i, slow := range t.slow {
		if slow && may(i) {
			t.slow[i] = false
			t.consume(i, t.owed[i][0], t.owed[i][1])
			t.owed[i] = [2]int{}
		}
	}
}
