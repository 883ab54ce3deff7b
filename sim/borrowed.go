package sim

import (
	"bytes"

	"github.com/failaware/failaware/broadcast"
)

// borrowed is a payload lent to an application, as by a node of the library: from its
// delivery until the application takes the next deliveries.
type borrowed struct {
	id      broadcast.ID
	loan    broadcast.Loan
	payload []byte
}

// giveBack gives back the payloads that an application took last, and lends it those that
// wait. It checks that no payload changed meanwhile.
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
