package bench

import (
	"context"
	"errors"
	"time"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// measureFloorRounds returns the processor time of rounds over the sockets alone, in percent
// of a core for each member: the first member sends a packet to every other one, which
// answers, rate times a second.
func measureFloorRounds(ctx context.Context, opt floorOptions, rate float64) (percent float64, err error) {
	opt.Rounds = true
	_, counts, err := opt.measure(ctx, rate)
	if err != nil {
		return 0, err
	}
	if counts[0].Packets == 0 {
		return 0, errors.New("no answer came over the sockets alone")
	}
	for i := range counts {
		percent += 100 * counts[i].CPU.Seconds() / counts[i].Elapsed.Seconds() / float64(len(counts))
	}
	return percent, nil
}

// request sends requests until an instant. Like the leader of a group at rest, it sleeps
// through the answers, and reads them before the next request.
func (f *floorChild) request(end timed.Instant) error {
	gap := time.Duration(float64(time.Second) / f.run.Rate)
	out := make([]udp.Packet, len(f.peers))
	for i, p := range f.peers {
		out[i] = udp.Packet{Buf: make([]byte, f.run.Size), N: f.run.Size, Addr: p.addr}
	}
	for now := f.clock.Now(); now < end; now = f.clock.Now() {
		n, err := f.conn.ReadBatch(f.in, now)
		if err != nil {
			return err
		}
		f.count.Packets += uint64(n)
		for i := range out {
			f.put(out[i].Buf, floorMessage, uint64(now))
		}
		if _, err := f.conn.WriteBatch(out); err != nil {
			return err
		}
		time.Sleep(gap)
	}
	return nil
}

// answer answers requests until an instant.
func (f *floorChild) answer(end timed.Instant) error {
	out := make([]udp.Packet, 1)
	for f.clock.Now() < end {
		n, err := f.conn.ReadBatch(f.in, end)
		if err != nil {
			return err
		}
		for i := range f.in[:n] {
			if !f.ours(f.in[i].Buf[:f.in[i].N]) {
				continue
			}
			f.count.Packets++
			f.put(f.data[0], floorCredit, f.count.Packets)
			out[0] = udp.Packet{Buf: f.data[0][:f.run.Size], N: f.run.Size, Addr: f.in[i].Addr}
			if _, err := f.conn.WriteBatch(out); err != nil {
				return err
			}
		}
	}
	return nil
}
