package epoch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// majority is the quorum system of the tests, written "majority 1,2,3".
type majority struct{ members timed.Set }

func (s majority) Members() timed.Set { return s.members }
func (s majority) IsQuorum(t timed.Set) bool {
	return 2*t.Intersect(s.members).Len() > s.members.Len()
}
func (s majority) Digest() uint64 {
	d := uint64(14695981039346656037)
	for id := range s.members.All() {
		d = (d ^ uint64(id)) * 1099511628211
	}
	return d
}
func (s majority) String() string {
	text := "majority "
	for id := range s.members.All() {
		text += id.String() + ","
	}
	return strings.TrimSuffix(text, ",")
}

func parseMajority(text string) (System, error) {
	rest, ok := strings.CutPrefix(text, "majority ")
	if !ok {
		return nil, errors.New("it is no majority")
	}
	var s majority
	for f := range strings.SplitSeq(rest, ",") {
		id, err := timed.ParseNodeID(f)
		if err != nil {
			return nil, err
		}
		s.members.Add(id)
	}
	return s, nil
}

// Times of the world, in true nanoseconds. Clock rates are exact, so that a lock can
// be barely longer than a lease. Clock origins are random.
const (
	ms        = int64(time.Millisecond)
	leaseTime = 80 * ms
	lockTime  = 82 * ms
)

// world is a group with quorum leaders in true time. It has voters with locks, late
// and lost messages, partitions, crashes before and after a write, and restarts.
type world struct {
	random *rand.Rand
	now    int64
	queue  []message // unordered; the next one is looked for
	nodes  []*node
	boots  timed.BootID

	loss, delay, crash float64 // per message, of a long one, and at a write
	unheard            float64 // per report
	rivals             bool    // every new leader wants another system, and soon leads no more
	cut                [16]int // the part that each node is in

	leases  []lease
	edicts  []edict.Edict              // of all leaders, in the order of their creation
	systems map[uint64]string          // that ruled
	noted   map[string]timed.Set       // members that have noted a proposal durably, by its edict
	chosen  map[uint64]string          // by epoch
	forced  map[uint64]map[string]bool // by epoch
	events  map[EventKind]int
	wrong   string
}

type node struct {
	id    timed.NodeID
	disk  State
	count uint64
	dead  bool // for good
	up    bool
	live
}

// live is the state that a crash loses.
type live struct {
	inc         timed.Incarnation
	origin      int64
	readyAt     int64
	m           *Machine
	lockedTo    timed.Incarnation
	lockedUntil int64
	lockRequest timed.Instant
	last        timed.Instant // stamp
	round       timed.Instant // the round under way, or the latest
	began       int64
	epoch       uint64
	open        bool
	votes       []edict.Stamp
	leadsUntil  int64
	stamps      []edict.Stamp
	counter     uint64
	next        int64 // when it asks for votes
}

type lease struct {
	node  timed.NodeID
	epoch uint64
	until int64
}

type messageKind int

const (
	request messageKind = iota
	reply
	release
	reported
)

type message struct {
	at       int64
	kind     messageKind
	from     timed.Incarnation
	to       timed.NodeID
	asked    timed.Incarnation // whose request is answered
	number   timed.Instant
	epoch    uint64
	digest   uint64
	stamp    edict.Stamp
	state    State
	hasState bool
}

func newWorld(seed uint64, count int, first string) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 77)), systems: map[uint64]string{1: first}, noted: map[string]timed.Set{},
		chosen: map[uint64]string{}, forced: map[uint64]map[string]bool{}, events: map[EventKind]int{}}
	w.loss, w.delay, w.crash = 0.1, 0.2, 0.05
	system, err := parseMajority(first)
	if err != nil {
		panic(err)
	}
	for i := range count {
		n := &node{id: timed.NodeID(i + 1)}
		if system.Members().Has(n.id) {
			n.disk = State{Epoch: 1, System: first}
		}
		w.nodes = append(w.nodes, n)
		w.start(n)
	}
	return w
}

func (w *world) fail(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf("at %v: ", time.Duration(w.now)) + fmt.Sprintf(format, args...)
	}
}

func (w *world) start(n *node) {
	n.count++
	w.boots++
	n.up, n.live = true, live{inc: timed.Incarnation{Node: n.id, Boot: w.boots}, origin: -w.random.Int64N(int64(time.Hour)),
		readyAt: w.now + lockTime, next: w.now + lockTime}
	m, err := New(Config{Self: n.inc, Counter: n.count, ReadyAt: n.clock(n.readyAt), Parse: parseMajority,
		Period: 20 * time.Millisecond, IdlePeriod: 200 * time.Millisecond, Retry: 150 * time.Millisecond}, n.disk, n.clock(w.now))
	if err != nil {
		w.fail("node %v does not start: %v", n.id, err)
		return
	}
	n.m = m
}

func (n *node) clock(at int64) timed.Instant { return timed.Instant(at - n.origin) }

// stamp returns the next stamp of a voter.
func (w *world) stamp(n *node) edict.Stamp {
	n.last = max(n.last+1, n.clock(w.now))
	return edict.Stamp{Node: n.id, Counter: n.count, Boot: n.inc.Boot, At: n.last}
}

func (w *world) crashNode(n *node) { n.up, n.m = false, nil }

// perform performs effects in order. The node may crash at each write, before or
// after it has reached the disk.
func (w *world) perform(n *node, out []Effect) {
	for _, e := range out {
		if !n.up {
			return
		}
		switch e.Kind {
		case Persist:
			crash := w.random.Float64() < w.crash
			if crash && w.random.IntN(2) == 0 {
				w.crashNode(n)
				return
			}
			s, err := Decode(Append(nil, &e.State))
			if err != nil {
				w.fail("a state cannot be read: %v", err)
			}
			n.disk = s
			w.written(n)
			if crash {
				w.crashNode(n)
			}
		case SendStateToAll:
			for _, p := range w.nodes {
				w.send(message{kind: reported, from: n.inc, to: p.id, state: e.State})
			}
		case SendState:
			w.send(message{kind: reported, from: n.inc, to: e.Peer, state: e.State})
		case Notify:
			w.events[e.Event.Kind]++
			if now := n.m.State().Epoch; e.Event.Epoch != now && e.Event.Epoch+1 != now { // it may have entered the next one since
				w.fail("event %v names epoch %d at a node in epoch %d", e.Event.Kind, e.Event.Epoch, now)
			}
		}
	}
}

// written checks the state on a node's disk.
func (w *world) written(n *node) {
	s := &n.disk
	if system, ok := w.systems[s.Epoch]; ok && system != s.System {
		w.fail("epoch %d is ruled by %s and by %s", s.Epoch, system, s.System)
	} else if !ok {
		w.systems[s.Epoch] = s.System
		if s.Epoch > 1 && w.chosen[s.Epoch-1] != s.System && !w.forced[s.Epoch-1][s.System] {
			w.fail("epoch %d began with %s, which was not chosen", s.Epoch, s.System)
		}
	}
	if s.Phase != Noted {
		return
	}
	system, _ := parseMajority(s.System)
	by := w.noted[s.Edict.String()].With(n.id)
	w.noted[s.Edict.String()] = by
	if system.IsQuorum(by) {
		if c, ok := w.chosen[s.Epoch]; ok && c != s.Next {
			w.fail("epoch %d chose %s and %s", s.Epoch, c, s.Next)
		}
		w.chosen[s.Epoch] = s.Next
	}
}

func (w *world) send(m message) {
	if m.from.Node == m.to || w.random.Float64() < w.loss || w.cut[m.from.Node] != w.cut[m.to] ||
		m.kind == reported && w.random.Float64() < w.unheard {
		return
	}
	delay := 100_000 + w.random.Int64N(3*ms)
	if w.random.Float64() < w.delay {
		delay += w.random.Int64N(300 * ms)
	}
	m.at = w.now + delay
	w.queue = append(w.queue, m)
}

func (w *world) broadcast(m message) {
	for _, p := range w.nodes {
		m.to = p.id
		w.send(m)
	}
}

// step performs the next event.
func (w *world) step() {
	at, best := w.now+20*ms, -1
	for i := range w.queue {
		if w.queue[i].at < at {
			at, best = w.queue[i].at, i
		}
	}
	var who *node
	for _, n := range w.nodes {
		if !n.up {
			continue
		}
		if due := max(w.now, min(n.next, int64(n.m.Deadline())+n.origin, n.alarm())); due < at {
			at, who = due, n
		}
	}
	w.now = at
	switch {
	case who != nil:
		w.timeout(who)
	case best >= 0:
		m := w.queue[best]
		w.queue[best] = w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		if n := w.nodes[m.to-1]; n.up {
			w.receive(n, m)
		}
	}
	w.check()
}

// alarm returns the end of a lead.
func (n *node) alarm() int64 {
	if n.stamps == nil {
		return 1 << 62
	}
	return n.leadsUntil
}

func (w *world) timeout(n *node) {
	if n.stamps != nil && w.now >= n.leadsUntil {
		n.stamps = nil
		n.m.NoteLost()
	}
	w.perform(n, n.m.HandleTimeout(n.clock(w.now), nil))
	if !n.up || w.now < n.next {
		return
	}
	n.next = w.now + 15*ms + w.random.Int64N(25*ms)
	if n.open && n.stamps == nil { // a round that failed gives its votes back
		n.open = false
		w.broadcast(message{kind: release, from: n.inc, number: n.round})
		w.free(n, n.inc, n.round)
		return
	}
	system := n.m.System()
	if system == nil || n.lockedTo != n.inc && w.now < n.lockedUntil || !n.m.Votes(n.id, n.m.State().Epoch, system.Digest()) {
		return
	}
	if n.stamps == nil && w.random.IntN(3) > 0 || n.stamps != nil && w.rivals && w.random.IntN(3) > 0 {
		return
	}
	own := w.stamp(n)
	n.round, n.began, n.epoch, n.open = own.At, w.now, n.m.State().Epoch, true
	w.lock(n, n.inc, own)
	n.votes = []edict.Stamp{own}
	w.broadcast(message{kind: request, from: n.inc, number: n.round, epoch: n.epoch, digest: system.Digest()})
	w.tally(n)
}

func (w *world) lock(n *node, to timed.Incarnation, s edict.Stamp) {
	n.lockedTo, n.lockedUntil = to, w.now+lockTime
	n.m.NoteVote(to, s.At, n.clock(n.lockedUntil))
}

func (w *world) free(n *node, by timed.Incarnation, number timed.Instant) {
	if n.lockedTo == by && n.lockRequest <= number {
		n.lockedUntil = w.now
		n.m.NoteFreed(n.clock(w.now), by)
	}
}

func (w *world) receive(n *node, m message) {
	switch m.kind {
	case request:
		if w.now < n.readyAt || w.now < n.lockedUntil && n.lockedTo != m.from || !n.m.Votes(m.from.Node, m.epoch, m.digest) ||
			n.lockedTo == m.from && m.number < n.lockRequest {
			return
		}
		s := w.stamp(n)
		w.lock(n, m.from, s)
		n.lockRequest = m.number
		w.send(message{kind: reply, from: n.inc, to: m.from.Node, asked: m.from, number: m.number, stamp: s, state: n.m.State(), hasState: n.m.Busy()})
	case reply:
		if !n.open || m.asked != n.inc || m.number != n.round || n.epoch != n.m.State().Epoch {
			return
		}
		var s *State
		if m.hasState {
			s = &m.state
		}
		for i := range n.votes {
			if n.votes[i].Node == m.from.Node {
				return
			}
		}
		n.m.NoteReply(m.from, m.number, s)
		at := 0
		for at < len(n.votes) && n.votes[at].Node < m.from.Node {
			at++
		}
		n.votes = append(n.votes[:at:at], append([]edict.Stamp{m.stamp}, n.votes[at:]...)...)
		w.tally(n)
	case release:
		w.free(n, m.from, m.number)
	case reported:
		w.perform(n, n.m.HandleReport(n.clock(w.now), m.from, &m.state, nil))
	}
}

// tally ends the current round if a quorum has voted.
func (w *world) tally(n *node) {
	var set timed.Set
	for _, s := range n.votes {
		set.Add(s.Node)
	}
	if system := n.m.System(); !system.IsQuorum(set) || w.now >= n.began+leaseTime {
		return
	}
	n.open = false
	if w.rivals && n.stamps == nil {
		// The proposal was requested between two rounds of a lead. This is the second
		// round, with other voters.
		n.m.leading = true
		_ = n.m.Propose(w.draw())
	}
	n.leadsUntil, n.stamps = n.began+leaseTime, n.votes
	w.leases = append(w.leases, lease{n.id, n.epoch, n.leadsUntil})
	w.create(n)
	w.perform(n, n.m.HandleWon(n.clock(w.now), n.round, n.stamps, nil))
}

// create makes an edict and compares it with all earlier ones.
func (w *world) create(n *node) {
	n.counter++
	e := edict.Edict{Epoch: n.epoch, Stamps: n.stamps, Counter: n.counter}
	for i := range w.edicts {
		if r := edict.Relate(&e, &w.edicts[i]); r.Order != edict.After {
			w.fail("an edict is %v one that was created before:\n%+v\n%+v", r, e, w.edicts[i])
		}
	}
	if w.edicts = append(w.edicts, e); len(w.edicts) > 30 {
		w.edicts = w.edicts[1:]
	}
}
