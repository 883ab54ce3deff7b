package bench

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/netip"
	"runtime"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/jsonlines"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// A packet of the floor is data, or reports to the sender of data how many packets of
// it have arrived, or is a message that carries its send time. The head counts as part
// of the data.
//
//	0  "F"   1  kind   2  sender (1)   3  zero   4  run (4)   8  number (8)
//
// The number is that of the packet, of packets, or an instant.
const (
	floorHead    = 16
	floorData    = 'd'
	floorCredit  = 'c'
	floorMessage = 'm'
)

// floorSetup configures a child's socket.
type floorSetup struct {
	Plain bool
	Procs int // GOMAXPROCS; 0: as it is
}

// floorRun is a run in which all children take part at the same time.
type floorRun struct {
	Number               uint32 // marks the packets of this run
	Senders              timed.Set
	Size, Packet         int           // in bytes
	Rounds               bool          // each packet is answered
	Rate                 float64       // messages per second of each sender; 0: as many as the window takes
	Begin, Measured, End timed.Instant // counted is from Measured to End
}

// floorCount is the counters of a child.
type floorCount struct {
	Elapsed        time.Duration
	CPU            time.Duration
	Bytes, Packets uint64 // that have arrived
	OwnBytes       uint64 // sent bytes, each counted once
	Sent, Lost     uint64 // packets, to all receivers together
	Together       uint64 // sent packets that shared a message of the kernel
	Procs          int    // GOMAXPROCS
	// Traces are recorded in runs at a rate: one for each message that this child has
	// sent, and one for each that it has received.
	Traces []castTrace
}

// sizes returns the sizes of packets that carry messages, repeatedly: one packet of
// many, or the parts of one.
func (r *floorRun) sizes() (sizes []int) {
	if fit := r.Packet / r.Size; fit > 0 {
		return []int{fit * r.Size}
	}
	for rest := r.Size; rest > 0; rest -= r.Packet {
		sizes = append(sizes, max(min(rest, r.Packet), floorHead))
	}
	return sizes
}

// floorChild is a member of the floor: one goroutine and a socket, and another
// goroutine that sends if there is a rate.
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
	told   uint64 // of them, the acknowledged ones
	acked  uint64 // packets that arrived there
	missed uint64 // packets that were given up
	credit []byte

	sent  timed.Instant // its latest message at a rate,
	parts int           // and how many packets of that have arrived
}

// serveFloor is the job of a child.
func serveFloor(j *job, commands *json.Decoder, reports *jsonlines.Writer) error {
	clock, err := hwclock.New()
	if err != nil {
		return err
	}
	if j.Floor.Procs > 0 {
		runtime.GOMAXPROCS(j.Floor.Procs)
	}
	conn, err := udp.Listen(j.Listen, clock, udp.Options{ReceiveBuffer: floorBuffer, SendBuffer: floorBuffer,
		NoSendOffload: j.Floor.Plain, NoReceiveOffload: j.Floor.Plain})
	if err != nil {
		return err
	}
	defer conn.Close()
	f := &floorChild{self: j.ID, clock: clock, conn: conn, in: make([]udp.Packet, 4*floorBatch)}
	reports.Put(report{Addr: conn.LocalAddr().String()})
	for {
		var cmd command
		if err := commands.Decode(&cmd); err != nil {
			return err
		}
		r := &reply{Number: cmd.Number, At: clock.Now()}
		if cmd.Do != doFloor {
			err = errors.New("no such command")
		} else {
			err = f.takePart(&cmd)
		}
		if err != nil {
			r.Err = err.Error()
		}
		count := f.count
		r.Floor = &count
		reports.Put(report{Reply: r})
	}
}

// takePart takes part in a run.
func (f *floorChild) takePart(cmd *command) error {
	switch err := f.prepare(cmd); {
	case err != nil:
		return err
	case cmd.Floor.Rounds && cmd.Floor.Senders.Has(f.self):
		return f.measure(f.request)
	case cmd.Floor.Rounds:
		return f.measure(f.answer)
	case cmd.Floor.Rate > 0:
		return f.exchange()
	}
	return f.measure(f.until)
}

// prepare resets the state of the last run.
func (f *floorChild) prepare(cmd *command) error {
	f.run, f.sizes = cmd.Floor, cmd.Floor.sizes()
	f.number, f.count, f.peers = 0, floorCount{}, nil
	room, _ := f.conn.Buffers() // all members have the same
	f.window = cmd.Floor.window(room)
	for _, p := range cmd.Peers {
		at, err := netip.ParseAddrPort(p.Addr)
		if err != nil {
			return err
		}
		if p.ID != f.self {
			f.peers = append(f.peers, &floorPeer{id: p.ID, addr: at, credit: make([]byte, floorHead)})
		}
	}
	f.data = make([][]byte, floorBatch)
	for i := range f.data {
		f.data[i] = make([]byte, cmd.Floor.Packet)
	}
	return nil
}

// measure works until the end of a run, and counts in the second part of it.
func (f *floorChild) measure(work func(until timed.Instant) error) error {
	if err := work(f.run.Measured); err != nil {
		return err
	}
	var before, after usage
	if err := before.ofProcess(); err != nil {
		return err
	}
	start, together := f.clock.Now(), f.conn.Stats().Get("sent_together")
	f.count = floorCount{}
	if err := work(f.run.End); err != nil {
		return err
	}
	f.count.Elapsed = f.clock.Now().Sub(start)
	if err := after.ofProcess(); err != nil {
		return err
	}
	f.count.CPU = after.CPU - before.CPU
	f.count.Procs = runtime.GOMAXPROCS(0)
	f.count.Together = f.conn.Stats().Get("sent_together") - together
	return nil
}

// put writes the head of a packet.
func (f *floorChild) put(b []byte, kind byte, number uint64) {
	b[0], b[1], b[2], b[3] = 'F', kind, byte(f.self), 0
	binary.BigEndian.PutUint32(b[4:], f.run.Number)
	binary.BigEndian.PutUint64(b[8:], number)
}

// ours reports whether a packet belongs to this run.
func (f *floorChild) ours(b []byte) bool {
	return len(b) >= floorHead && b[0] == 'F' && binary.BigEndian.Uint32(b[4:]) == f.run.Number
}

func (f *floorChild) peer(id timed.NodeID) *floorPeer {
	for _, p := range f.peers {
		if p.id == id {
			return p
		}
	}
	return nil
}
