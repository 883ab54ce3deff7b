package sim

import (
	"bytes"

	"github.com/failaware/failaware/broadcast"
)

// borrowed is a payload that was lent to an application. As with a node of the
// library, it is borrowed from its delivery until the application takes more, and
// a slow one has it for long.
type borrowed struct {
	id      broadcast.ID
	loan    broadcast.Loan
	payload []byte
}

// giveBack lets an application give back the payloads that it took last, and take those
// that wait for it. A payload must not have changed meanwhile.
func (w *World) giveBack(n *Node) {
	for i := range n.borrowed {
		b := &n.borrowed[i]
		if m := w.cast.check.Sent[b.id]; m != nil && !bytes.Equal(m.Payload, b.payload) {
			w.check.FailAt("borrowed", n.proc.ID, "the payload of %v has changed while the application had it", b.id)
		}
		n.proc.Stack.GiveBack(b.loan, 1)
	}
	clear(n.borrowed)
	n.owed, n.borrowed = n.borrowed[:0], n.owed
}
