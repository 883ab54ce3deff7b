package replicate

import (
	"io"
	"testing"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/session"
)

// counter is a state that counts operations.
type counter struct{ n uint64 }

func (c *counter) Apply(Operation) any      { c.n++; return nil }
func (c *counter) Snapshot(io.Writer) error { return nil }
func (c *counter) Restore(io.Reader) error  { return nil }

// Sessions cost an operation without one nothing but a byte.
func BenchmarkApply(b *testing.B) {
	a := newAdapter(&counter{})
	command := make([]byte, 64)
	b.Run("plain", func(b *testing.B) {
		d := broadcast.Delivery{Payload: session.AppendPlain(nil, command)}
		b.ReportAllocs()
		for b.Loop() {
			a.Apply(d)
		}
	})
	b.Run("session", func(b *testing.B) {
		a.Apply(broadcast.Delivery{Payload: session.AppendOpen(nil)})
		number := uint64(0)
		var op []byte
		b.ReportAllocs()
		for b.Loop() {
			number++
			op = session.AppendUse(op[:0], session.ID{}, number, command)
			a.Apply(broadcast.Delivery{Payload: op})
		}
	})
}
