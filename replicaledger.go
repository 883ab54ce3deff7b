package failaware

import (
	"slices"
	"sync"

	"github.com/failaware/failaware/broadcast"
)

// ledger brings what becomes of own operations and barriers to those who wait.
type ledger struct {
	mu      sync.Mutex
	over    bool
	begun   uint64              // calls of send
	sending map[uint64]struct{} // those that broadcast something whose id is not known yet
	waiting map[MessageID]*claim
	early   []notice // what has come while somebody was sending, and nobody waited for
}

// claim is somebody who waits for a verdict.
type claim struct {
	verdict chan verdict // room for one
	at      func(verdict)
}

// verdict is what became of an operation or a barrier.
type verdict struct {
	op       Operation // without its payload
	unknown  UnknownReason
	result   any
	lasting  bool
	restores uint64
	late     bool // it was not told at its place among the calls of the application
}

// notice is a verdict on one message, on a range of those of an incarnation, or on
// all of other incarnations.
type notice struct {
	id   MessageID
	from uint64 // the first sequence of the range
	boot BootID // all but those of this one, if it is not 0
	at   uint64 // the last call of send by then
	verdict
}

func (n *notice) about(id MessageID) bool {
	if n.boot != 0 {
		return id.Boot != n.boot
	}
	return id.Boot == n.id.Boot && id.Class == n.id.Class && n.from <= id.Sequence && id.Sequence <= n.id.Sequence
}

// send is called before a message is broadcast that somebody will wait for. It
// returns a number for sent.
func (l *ledger) send() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sending == nil {
		l.sending = map[uint64]struct{}{}
	}
	l.begun++
	l.sending[l.begun] = struct{}{}
	return l.begun
}

// hurry keeps what has come for those who are sending. The lock is held.
func (l *ledger) hurry(n notice) {
	if len(l.sending) > 0 {
		n.at = l.begun
		l.early = append(l.early, n)
	}
}

// prune lets go of what came before any of those who are sending began: where
// many callers always send, there is no time at which nobody does. The lock is held.
func (l *ledger) prune() {
	if len(l.early) == 0 {
		return
	}
	oldest := l.begun + 1
	for call := range l.sending {
		oldest = min(oldest, call)
	}
	k := 0
	for k < len(l.early) && l.early[k].at < oldest {
		k++
	}
	l.early = slices.Delete(l.early, 0, k)
}

// sent is called when the message has its id, or failed to get one. What became of
// it may have been told already.
func (l *ledger) sent(call uint64, id MessageID, err error, at func(verdict)) *claim {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.prune()
	delete(l.sending, call)
	if err != nil {
		return nil
	}
	c := &claim{make(chan verdict, 1), at}
	if l.over {
		c.verdict <- verdict{unknown: NodeStopped}
		return c
	}
	for i := range l.early {
		if n := &l.early[i]; n.at >= call && n.about(id) {
			v := n.verdict
			v.late = true
			c.verdict <- v
			return c
		}
	}
	if l.waiting == nil {
		l.waiting = map[MessageID]*claim{}
	}
	l.waiting[id] = c
	return c
}

// forget is called by who does not wait any more. It reports whether nothing has
// been, or is being, told.
func (l *ledger) forget(id MessageID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.waiting[id]
	delete(l.waiting, id)
	return ok
}

// settle tells what became of one message.
func (l *ledger) settle(op *broadcast.Delivery, v verdict) {
	v.op = *op
	v.op.Payload = nil
	l.mu.Lock()
	c := l.waiting[op.ID]
	if c == nil {
		l.hurry(notice{id: op.ID, from: op.Sequence, verdict: v})
	}
	delete(l.waiting, op.ID)
	l.mu.Unlock()
	if c == nil {
		return
	}
	if c.at != nil {
		c.at(v)
	}
	c.verdict <- v
}

// lose tells that the messages of a class from a sequence through id were ordered by
// another branch of the group.
func (l *ledger) lose(id MessageID, from uint64) {
	l.tell(notice{id: id, from: from, verdict: verdict{unknown: OrderedElsewhere}})
}

// restart tells that there is another incarnation.
func (l *ledger) restart(boot BootID) {
	l.tell(notice{boot: boot, verdict: verdict{unknown: IncarnationEnded}})
}

func (l *ledger) tell(n notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hurry(n)
	for id, c := range l.waiting {
		if n.about(id) {
			delete(l.waiting, id)
			c.verdict <- n.verdict
		}
	}
}

// end tells all that the node has stopped.
func (l *ledger) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for id, c := range l.waiting {
		delete(l.waiting, id)
		c.verdict <- verdict{unknown: NodeStopped}
	}
}
