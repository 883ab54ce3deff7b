package bench

import (
	"encoding/binary"
	"time"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// exchange takes part in a run at a rate. As in a node, one goroutine reads the socket,
// asleep until a packet comes, and another one, the sending application, sleeps until a
// message is due.
func (f *floorChild) exchange() error {
	sent := make(chan []castTrace, 1)
	if f.run.Senders.Has(f.self) {
		go func() { sent <- f.pace() }()
	} else {
		sent <- nil
	}
	f.count.Traces = make([]castTrace, 0, castTraces)
	err := f.listen(f.run.End.Add(castDrain))
	f.count.Traces = append(f.count.Traces, <-sent...)
	return err
}

// pace sends a message to all whenever one is due, from the beginning of the run until
// its end, and returns a trace of each measured message, which its sender has as soon
// as it is sent.
func (f *floorChild) pace() (traces []castTrace) {
	r := f.run
	gap := time.Duration(float64(time.Second) / r.Rate)
	begin := r.Begin.Add(gap * time.Duration(r.Senders.Rank(f.self)) / time.Duration(r.Senders.Len()))
	parts := make([][]byte, len(f.sizes))
	var out []udp.Packet
	for i, size := range f.sizes {
		parts[i] = make([]byte, size)
	}
	for _, p := range f.peers {
		for _, b := range parts {
			out = append(out, udp.Packet{Buf: b, N: len(b), Addr: p.addr})
		}
	}
	for n := 0; ; n++ {
		time.Sleep(begin.Add(time.Duration(n) * gap).Sub(f.clock.Now()))
		now := f.clock.Now()
		if now >= r.End {
			return traces
		}
		for _, b := range parts {
			f.put(b, floorMessage, uint64(now))
		}
		// Unsent packets are missing at their receivers, and the next read returns the
		// error of a broken socket.
		_, _ = f.conn.WriteBatch(out)
		if now >= r.Measured {
			traces = append(traces, castTrace{Sender: f.self, Sent: now, Had: now})
		}
	}
}

// listen reads messages until an instant.
func (f *floorChild) listen(end timed.Instant) error {
	for {
		n, err := f.conn.ReadBatch(f.in, end)
		now := f.clock.Now()
		if err != nil {
			return err
		}
		f.hear(f.in[:n], now)
		if now >= end {
			return nil
		}
	}
}

// hear traces measured messages that were complete at now. Messages of one sender are
// far apart and do not overtake each other.
func (f *floorChild) hear(pkts []udp.Packet, now timed.Instant) {
	for i := range pkts {
		b := pkts[i].Buf
		if !f.ours(b) || b[1] != floorMessage {
			continue
		}
		p := f.peer(timed.NodeID(b[2]))
		if p == nil {
			continue
		}
		if sent := timed.Instant(binary.BigEndian.Uint64(b[8:])); sent != p.sent {
			p.sent, p.parts = sent, 0
		}
		if p.parts++; p.parts == len(f.sizes) && p.sent >= f.run.Measured {
			f.count.Traces = append(f.count.Traces, castTrace{Sender: p.id, Sent: p.sent, Had: now})
		}
	}
}
