package bench

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/netip"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// A packet of the floor is data, or tells the sender of data how many packets of
// it have arrived. The head is part of what data counts.
//
//	0  "F"   1  kind   2  sender (1)   3  zero   4  run (4)   8  packets (8)
const (
	floorHead   = 16
	floorData   = 'd'
	floorCredit = 'c'

	floorBatch   = 64 // packets to each receiver at a time
	floorCredits = 8  // how often a window is told of
	// floorPatience is how long a sender waits for news before it takes what is
	// under way for lost.
	floorPatience = 100 * time.Millisecond
)

// floorSetup says how a child opens its socket.
type floorSetup struct {
	Buffer int
	Plain  bool
}

// floorRun says what all children do at the same time.
type floorRun struct {
	Number               uint32 // tells packets of this run from those of others
	Senders              idSet
	Size, Packet, Window int           // in bytes
	Begin, Measured, End timed.Instant // counted is from Measured to End
}

// floorCount is what a child counted.
type floorCount struct {
	Elapsed        time.Duration
	CPU            time.Duration
	Bytes, Packets uint64 // that arrived
	OwnBytes       uint64 // that it sent, each counted once
	Sent, Lost     uint64 // packets, to all receivers together
}

// sizes returns the sizes of packets that carry messages, again and again: one
// packet of many, or the parts of one.
func (r *floorRun) sizes() (sizes []int) {
	if fit := r.Packet / r.Size; fit > 0 {
		return []int{fit * r.Size}
	}
	for rest := r.Size; rest > 0; rest -= r.Packet {
		sizes = append(sizes, max(min(rest, r.Packet), floorHead))
	}
	return sizes
}

// floorChild is a member of the floor: one goroutine and a socket.
type floorChild struct {
	self  timed.NodeID
	clock *hwclock.Clock
	conn  *udp.Conn
	in    []udp.Packet
	data  [][]byte // of the packets under way in one call, the same for all receivers
	out   []udp.Packet

	run    *floorRun
	sizes  []int
	peers  []*floorPeer
	number uint64 // of packets sent to each peer
	window uint64 // in packets
	news   timed.Instant
	count  floorCount
}

// floorPeer is another member.
type floorPeer struct {
	id     timed.NodeID
	addr   netip.AddrPort
	had    uint64 // packets that arrived here from it
	told   uint64 // of them, those that it knows of
	acked  uint64 // packets that arrived there
	missed uint64 // packets that were given up
	credit []byte
}

// serveFloor is the job of a child.
func serveFloor(j *job, commands *json.Decoder, reports *lines) error {
	clock, err := hwclock.New()
	if err != nil {
		return err
	}
	conn, err := udp.Listen(j.Listen, clock, udp.Options{ReceiveBuffer: j.Floor.Buffer, SendBuffer: j.Floor.Buffer,
		NoSendOffload: j.Floor.Plain, NoReceiveOffload: j.Floor.Plain})
	if err != nil {
		return err
	}
	defer conn.Close()
	f := &floorChild{self: j.ID, clock: clock, conn: conn, in: make([]udp.Packet, 4*floorBatch)}
	reports.put(report{Addr: conn.LocalAddr().String()})
	for {
		var cmd command
		if err := commands.Decode(&cmd); err != nil {
			return err
		}
		r := &reply{Number: cmd.Number, At: clock.Now()}
		if cmd.Do != doFloor {
			err = errors.New("no such command")
		} else if err = f.prepare(&cmd); err == nil {
			err = f.measure()
		}
		if err != nil {
			r.Err = err.Error()
		}
		count := f.count
		r.Floor = &count
		reports.put(report{Reply: r})
	}
}

// prepare forgets the last run.
func (f *floorChild) prepare(cmd *command) error {
	f.run, f.sizes = cmd.Floor, cmd.Floor.sizes()
	f.number, f.count, f.peers = 0, floorCount{}, nil
	f.window = uint64(cmd.Floor.Window / f.sizes[0])
	for _, p := range cmd.Peers {
		at, err := netip.ParseAddrPort(p.Addr)
		if err != nil {
			return err
		}
		if p.ID != f.self {
			f.peers = append(f.peers, &floorPeer{id: p.ID, addr: at})
		}
	}
	f.data = make([][]byte, floorBatch)
	for i := range f.data {
		f.data[i] = make([]byte, cmd.Floor.Packet)
	}
	for i := range f.peers {
		f.peers[i].credit = make([]byte, floorHead)
	}
	return nil
}

// measure takes part in a run, and counts in the second part of it.
func (f *floorChild) measure() error {
	if err := f.until(f.run.Measured); err != nil {
		return err
	}
	var before, after usage
	if err := before.ofProcess(); err != nil {
		return err
	}
	start := f.clock.Now()
	f.count = floorCount{}
	if err := f.until(f.run.End); err != nil {
		return err
	}
	f.count.Elapsed = f.clock.Now().Sub(start)
	if err := after.ofProcess(); err != nil {
		return err
	}
	f.count.CPU = after.CPU - before.CPU
	return nil
}

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

// push sends a batch of packets to all, if the slowest has room for them, and
// returns until when there is nothing to send unless there is news.
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
	// What was not sent is missed like what got lost, and a broken socket shows at
	// the next reading.
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

// put writes the head of a packet.
func (f *floorChild) put(b []byte, kind byte, packets uint64) {
	b[0], b[1], b[2], b[3] = 'F', kind, byte(f.self), 0
	binary.BigEndian.PutUint32(b[4:], f.run.Number)
	binary.BigEndian.PutUint64(b[8:], packets)
}

// take counts what has arrived.
func (f *floorChild) take(pkts []udp.Packet) {
	var p *floorPeer
	for i := range pkts {
		b := pkts[i].Buf
		if len(b) < floorHead || b[0] != 'F' || binary.BigEndian.Uint32(b[4:]) != f.run.Number {
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
			// What was given up may arrive after all.
			if late := p.acked + p.missed; late > f.number {
				p.missed -= late - f.number
				f.count.Lost -= min(f.count.Lost, late-f.number)
			}
		}
	}
}

func (f *floorChild) peer(id timed.NodeID) *floorPeer {
	for _, p := range f.peers {
		if p.id == id {
			return p
		}
	}
	return nil
}

// tell tells senders what has arrived, several times per window.
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
