package bench

import (
	"encoding/binary"
	"time"

	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

const (
	floorBatch   = 64 // packets to each receiver at a time
	floorCredits = 8  // acknowledgements per window
	// floorPatience is how long a sender waits for an acknowledgement before it
	// considers all packets under way lost.
	floorPatience = 100 * time.Millisecond
)

// window returns the limit of packets that a sender may have under way to each receiver:
// at most floorWindow bytes, and at most an equal share of a receive buffer of room bytes,
// if room is not zero. A lost packet costs the sender floorPatience, which would look like
// a slow machine.
func (r *floorRun) window(room int) uint64 {
	window := floorWindow / r.sizes()[0]
	if room > 0 {
		others := max(r.Senders.Len()-1, 1)
		window = min(window, room/others/charged(r.sizes()[0]))
	}
	return uint64(max(window, 1))
}

// charged returns the most bytes of buffer that the kernel charges for a packet: up to
// twice its size, since memory is allocated in powers of two, and its metadata.
func charged(size int) int { return 2*size + 1024 }

// until sends and receives until an instant.
func (f *floorChild) until(end timed.Instant) error {
	sends := f.run.Senders.Has(f.self)
	for {
		now := f.clock.Now()
		if now >= end {
			return nil
		}
		wait := end
		if sends && now < f.run.Begin {
			wait = timed.Earlier(end, f.run.Begin)
		} else if sends {
			wait = timed.Earlier(end, f.push(now))
		}
		n, err := f.conn.ReadBatch(f.in, wait)
		if err != nil {
			return err
		}
		f.take(f.in[:n])
		if err := f.tell(); err != nil {
			return err
		}
	}
}

// push sends a batch of packets to all, if the slowest has room for them, and returns
// until when it has nothing to send without an acknowledgement.
func (f *floorChild) push(now timed.Instant) timed.Instant {
	room := f.room()
	if room == 0 && now.Sub(f.news) >= floorPatience {
		for _, p := range f.peers {
			lost := f.number - p.acked - p.missed
			p.missed += lost
			f.count.Lost += lost
		}
		room = f.room()
	}
	if room == 0 {
		return f.news.Add(floorPatience)
	}
	f.news = now
	k := min(int(room), floorBatch)
	f.out = f.out[:0]
	for i := range k {
		number := f.number + uint64(i)
		size := f.sizes[number%uint64(len(f.sizes))]
		f.put(f.data[i], floorData, number)
		f.out = append(f.out, udp.Packet{Buf: f.data[i], N: size})
		f.count.OwnBytes += uint64(size)
	}
	for i, p := range f.peers {
		if i > 0 {
			f.out = append(f.out, f.out[:k]...)
		}
		for j := i * k; j < len(f.out); j++ {
			f.out[j].Addr = p.addr
		}
	}
	f.number += uint64(k)
	f.count.Sent += uint64(len(f.out))
	// Unsent packets are missing like lost ones, and the next read returns the error of a
	// broken socket.
	_, _ = f.conn.WriteBatch(f.out)
	if f.room() > 0 {
		return now
	}
	return now.Add(floorPatience)
}

// room is how many packets may be sent to each peer.
func (f *floorChild) room() uint64 {
	room := f.window
	for _, p := range f.peers {
		room = min(room, f.window-min(f.number-p.acked-p.missed, f.window))
	}
	return room
}

// take counts received packets.
func (f *floorChild) take(pkts []udp.Packet) {
	var p *floorPeer
	for i := range pkts {
		b := pkts[i].Buf
		if !f.ours(b) {
			continue
		}
		if p == nil || p.id != timed.NodeID(b[2]) {
			if p = f.peer(timed.NodeID(b[2])); p == nil {
				continue
			}
		}
		switch b[1] {
		case floorData:
			p.had++
			f.count.Packets++
			f.count.Bytes += uint64(len(b))
		case floorCredit:
			p.acked = max(p.acked, binary.BigEndian.Uint64(b[8:]))
			// Packets that were given up may still arrive.
			if late := p.acked + p.missed; late > f.number {
				p.missed -= late - f.number
				f.count.Lost -= min(f.count.Lost, late-f.number)
			}
		}
	}
}

// tell acknowledges received packets several times per window.
func (f *floorChild) tell() error {
	f.out = f.out[:0]
	for _, p := range f.peers {
		if p.had-p.told >= max(f.window/floorCredits, 1) {
			p.told = p.had
			f.put(p.credit, floorCredit, p.had)
			f.out = append(f.out, udp.Packet{Buf: p.credit, N: floorHead, Addr: p.addr})
		}
	}
	if len(f.out) == 0 {
		return nil
	}
	_, err := f.conn.WriteBatch(f.out)
	return err
}
