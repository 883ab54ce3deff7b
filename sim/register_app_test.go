package sim

import (
	"encoding/json"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/sim/internal/hardware"
	"github.com/failaware/failaware/timed"
)

// registers is a service of a few registers, replicated by ordered messages:
// writes and reads are Total and Strict, in quorums only. A view begins with the
// state of the member that has come furthest, once all have said how far. Nodes
// that have lost their memory do not count for the majority that this takes.
type registers struct {
	bug      registerBug
	rand     random.Stream
	history  []porcupine.Operation
	started  [MaxNodes + 1]bool
	values   int
	clients  int
	finished int
}

// registerBug is a mistake that such a service could make.
type registerBug int

const (
	noRegisterBug   registerBug = iota
	readsLocally                // reads are answered without being ordered
	answersAtOnce               // writes are answered when they are sent
	countsForgetful             // who has lost its memory counts for the majority
	forgetsBranch               // a view begins with the own state
)

const (
	registerKeys = 6
	// registerPause is how long a client waits after an answer, on average, and
	// registerPatience for how long for one, in units of Expires.
	registerPause    = 0.3
	registerPatience = 20
)

// order is what the replicas say to each other.
type order struct {
	Client int                `json:"c,omitempty"` // of an operation
	Key    int                `json:"k,omitempty"`
	Write  int                `json:"w,omitempty"` // 0: a read
	View   *membership.ViewID `json:"v,omitempty"` // of a member's word on its state
	State  *registerState     `json:"s,omitempty"`
	Knows  bool               `json:"m,omitempty"`
	From   timed.NodeID       `json:"-"`
}

// registerState is the registers, and how far they have come: the sequence of
// the last view that began with agreed state, and the operations since.
type registerState struct {
	Epoch, Count uint64
	Values       [registerKeys]int
}

func (s *registerState) before(o *registerState) bool {
	return s.Epoch < o.Epoch || s.Epoch == o.Epoch && s.Count < o.Count
}

// registerReplica is one node's part of the service, with one client.
type registerReplica struct {
	svc    *registers
	n      *Node
	inc    timed.Incarnation
	state  registerState
	knows  bool // has the state of a quorum that it was part of
	view   *membership.View
	words  map[timed.NodeID]order
	agreed bool
	queue  []order // ordered before the state was agreed

	client int // the one whose operation is under way; 0: none
	op     order
	called int64
}

var strictTotal = broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}

// app returns the replica of a process that starts.
func (s *registers) app(n *Node) Handlers {
	r := &registerReplica{svc: s, n: n, inc: n.Incarnation(), knows: !s.started[n.proc.ID]}
	s.started[n.proc.ID] = true
	r.later()
	return Handlers{Broadcast: BroadcastHandlers{Delivered: r.delivered, Entered: r.entered}, Stop: r.giveUp}
}

func (r *registerReplica) expires(x float64) time.Duration {
	return time.Duration(x * float64(r.n.w.opt.Timing.Expires))
}

// later lets the client begin its next operation.
func (r *registerReplica) later() {
	r.n.After(r.expires(registerPause*r.svc.rand.Exponential()), r.begin)
}

func (r *registerReplica) begin() {
	s := r.svc
	s.clients++
	op := order{Client: s.clients, Key: int(s.rand.Below(registerKeys))}
	if s.rand.Chance(0.5) {
		s.values++
		op.Write = s.values
	}
	r.client, r.op, r.called = op.Client, op, r.n.w.now
	if s.bug == readsLocally && op.Write == 0 && r.agreed {
		r.answer(r.state.Values[op.Key])
		return
	}
	if !r.say(op) { // refused: it has not happened
		r.client = 0
		r.later()
		return
	}
	if s.bug == answersAtOnce && op.Write != 0 {
		r.answer(0)
		return
	}
	patience := op.Client
	r.n.After(r.expires(registerPatience), func() {
		if r.client == patience {
			r.giveUp()
			r.later()
		}
	})
}

func (r *registerReplica) say(o order) bool {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	_, err = r.n.Broadcast(b, strictTotal)
	return err == nil
}

// answer ends the operation under way.
func (r *registerReplica) answer(value int) {
	r.record(value, r.n.w.now)
	r.svc.finished++
	r.client = 0
	r.later()
}

// giveUp leaves the operation under way open: it may take effect at any time, or
// never. A read without an answer says nothing.
func (r *registerReplica) giveUp() {
	if r.client != 0 && r.op.Write != 0 {
		r.record(0, hardware.Forever)
	}
	r.client = 0
}

func (r *registerReplica) record(value int, at int64) {
	r.svc.history = append(r.svc.history, porcupine.Operation{ClientId: r.client, Input: registerInput{r.op.Key, r.op.Write},
		Output: value, Call: r.called, Return: at})
}

// entered begins a view: every member says how far it has come.
func (r *registerReplica) entered(v *membership.View) {
	if inc := r.n.Incarnation(); inc != r.inc { // it slept, and does not know what it missed
		r.inc, r.knows = inc, false
	}
	r.view, r.words, r.agreed, r.queue = v, map[timed.NodeID]order{}, false, nil
	r.tell(v)
}

// tell says it until there is room for it.
func (r *registerReplica) tell(v *membership.View) {
	if r.view != v || 2*v.Set.Len() <= r.n.w.opt.Nodes {
		return
	}
	state := r.state
	if !r.say(order{View: &v.ID, State: &state, Knows: r.knows}) {
		r.n.After(r.expires(0.1), func() { r.tell(v) })
	}
}

func (r *registerReplica) delivered(d broadcast.Delivery, v *membership.View) {
	var o order
	if err := json.Unmarshal(d.Payload, &o); err != nil {
		panic(err)
	}
	o.From = d.Sender
	switch {
	case o.View == nil && !r.agreed:
		r.queue = append(r.queue, o)
	case o.View == nil:
		r.apply(o, d.Transitional)
	case *o.View == v.ID && !r.agreed:
		r.words[o.From] = o
		if len(r.words) == len(v.Members) {
			r.agree(v, d.Transitional)
		}
	}
}

// agree begins with the state that has come furthest, if those who know theirs
// are a majority.
func (r *registerReplica) agree(v *membership.View, transitional bool) {
	know := 0
	best := registerState{}
	for _, o := range r.words {
		if o.Knows || r.svc.bug == countsForgetful {
			know++
			if best.before(o.State) {
				best = *o.State
			}
		}
	}
	if 2*know <= r.n.w.opt.Nodes {
		return
	}
	if r.svc.bug != forgetsBranch {
		r.state = best
	}
	r.state.Epoch, r.state.Count, r.agreed, r.knows = v.ID.Sequence, 0, true, true
	for _, o := range r.queue {
		r.apply(o, transitional)
	}
	r.queue = nil
}

// apply performs an operation. Its client hears of it only if nobody can have left
// the view without it.
func (r *registerReplica) apply(o order, transitional bool) {
	r.state.Count++
	if o.Write != 0 {
		r.state.Values[o.Key] = o.Write
	}
	if o.From == r.n.proc.ID && o.Client == r.client && r.client != 0 && !transitional {
		r.answer(r.state.Values[o.Key])
	}
}

// registerInput is an operation as it is called.
type registerInput struct{ key, write int }

// registerModel is what the registers are when one operation happens at a time.
var registerModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byKey := make([][]porcupine.Operation, registerKeys)
		for _, o := range history {
			k := o.Input.(registerInput).key
			byKey[k] = append(byKey[k], o)
		}
		return byKey
	},
	Init: func() any { return 0 },
	Step: func(state, input, output any) (bool, any) {
		if in := input.(registerInput); in.write != 0 {
			return true, in.write
		}
		return output.(int) == state.(int), state
	},
}
