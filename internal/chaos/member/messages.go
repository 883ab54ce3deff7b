package member

import (
	"bytes"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/chaos/oracle"
)

const (
	sendEvery   = 40 * time.Millisecond
	largestText = 4000 // bytes of a message: some take several packets
	oneWait     = time.Second
)

// payload returns the bytes of a message: its text, and padding that depends on the text.
func payload(text string) []byte {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // it never fails
	sum := h.Sum64()
	return append([]byte(text+"\n"), bytes.Repeat([]byte{byte(sum), byte(sum >> 8), byte(sum >> 16)}, int(sum%largestText)/3)...)
}

// textOf returns the text of a payload, marked if the payload is damaged.
func textOf(b []byte) string {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	text := string(line)
	if !bytes.Equal(payload(text), b) {
		return "damaged: " + text
	}
	return text
}

var (
	orders      = []failaware.Order{failaware.TotalOrder, failaware.TimedOrder, failaware.Unordered}
	atomicities = []failaware.Atomicity{failaware.StrongAtomicity, failaware.StrictAtomicity, failaware.WeakAtomicity}
	orderNames  = map[failaware.Order]string{failaware.TotalOrder: oracle.Total, failaware.TimedOrder: oracle.Timed}
)

// send broadcasts messages of all kinds.
func (m *member) send(ctx context.Context) {
	for number := uint64(1); rest(ctx, sendEvery); {
		if m.quiet.Load() {
			continue
		}
		opts := failaware.BroadcastOptions{Order: orders[rand.IntN(len(orders))], Atomicity: atomicities[rand.IntN(len(atomicities))]}
		text := m.text(number)
		number++
		now := Now()
		m.log.write(oracle.Record{Kind: oracle.Send, Group: GroupB, From: now, To: now, Text: text})
		one, cancel := context.WithTimeout(ctx, oneWait)
		_, _ = m.b.Broadcast(one, payload(text), opts) // a full window while the group is cut is no fault
		cancel()
	}
}

// receive logs the deliveries.
func (m *member) receive(ctx context.Context) {
	for d, err := range m.b.Deliveries(ctx) {
		if err != nil {
			return
		}
		now := Now()
		r := oracle.Record{Group: GroupB, From: now, To: now, View: d.View.ID.String()}
		switch c := d.Change.(type) {
		case nil:
			r.Kind, r.ID, r.Text = oracle.Deliver, message(d.ID), textOf(d.Payload)
			r.Position, r.Order = d.Position, orderNames[d.Order]
			r.Time, r.Deviation = int64(d.Stamp), int64(d.Deviation)
			r.Strict, r.Weakened = d.Atomicity == failaware.StrictAtomicity, d.Transitional
		case failaware.ViewChange:
			r.Kind, r.Previous = oracle.Change, c.Previous.String()
		case failaware.NewIncarnation:
			r.Kind, r.Text = oracle.Restart, string(c.Reason)
		case failaware.OutcomeLost:
			r.Kind, r.ID, r.Number = oracle.Lost, message(c.From), c.Through.Sequence
		default:
			continue
		}
		m.log.write(r)
	}
}

func message(id failaware.MessageID) *oracle.Message {
	return &oracle.Message{Sender: int(id.Sender), Boot: uint64(id.Boot), Class: int(id.Class), Sequence: id.Sequence}
}
