package replicated

import (
	"math"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/session"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// load is what a seed demands of its replicas.
type load struct {
	nodes     int
	roughness float64
	calm      bool            // there are no random faults
	untidy    bool            // applications write equal states in different ways
	refuse    float64         // share of snapshots that applications refuse
	slow      int64           // the longest time of a call, in nanoseconds
	flush     int64           // the longest time of a flush of a disk, in nanoseconds
	broken    float64         // share of flushes that fail
	full      float64         // share of writes that find the disk full for a while
	segment   int64           // bytes of a file of the log
	least     int             // bytes of operations before a snapshot
	blackouts bool            // all processes end at the same time, now and then
	shared    bool            // all machines sleep at the same time, now and then
	padding   int64           // of operations, in bytes, less than this
	pace      float64         // how often a second each node broadcasts one to three operations
	clients   int64           // that have sessions
	sessions  *session.Limits // nil: there are none
	mix       []broadcast.Options
	cast      broadcast.Config
	replica   replica.Config // without Self
}

func drawLoad(r random.Stream, o Options) (l load) {
	l.nodes, l.roughness = int(r.Between(2, 6)), r.LogUniform(0.5, 4)
	if o.Apart {
		l.drawApart(r, o)
	}
	c := &l.replica
	c.ChunkBytes = int(r.LogUniform(64, 2000))
	c.Rate = int(r.LogUniform(100_000, 20_000_000))
	c.Window = max(c.ChunkBytes*int(r.Between(1, 8)), 1000)
	c.MaxQueued = int(r.LogUniform(5_000, 1_000_000))
	c.HashEvery, c.BlockBytes = 3, 128
	l.pace = r.LogUniform(5, 150)
	if o.Tight || o.Parts { // transfers take a while, and start over
		c.ChunkBytes, c.Rate, c.MaxQueued, c.Window = 100, 80_000, 1200, 400
		l.pace = math.Inf(1)
	}
	l.untidy, l.shared = r.Chance(0.3), r.Chance(0.4)
	if r.Chance(0.3) {
		l.refuse = 0.1
	}
	l.slow = int64(r.LogUniform(10_000, 3_000_000))
	if o.Disks {
		c.Stored = true
		l.flush = int64(r.LogUniform(10_000, 100_000_000))
		if r.Chance(0.3) {
			l.broken = 0.01
		}
		if r.Chance(0.3) {
			l.full = 0.02
		}
		l.segment, l.least, l.blackouts = int64(r.LogUniform(300, 20_000)), int(r.LogUniform(200, 20_000)), r.Chance(0.4)
	}
	if o.Sessions {
		l.clients = r.Between(1, 5)
		l.sessions = &session.Limits{Sessions: int(r.Between(1, 5)), Window: mostOpen + 1, Bytes: 64}
	}
	l.pace = min(l.pace, l.bearable())
	if o.Loaded {
		l.pace *= perTurn / float64(mostInWindow)
	}
	l.mix = drawMix(r, o.Timed)
	l.cast = broadcast.Config{Window: int(r.LogUniform(1<<13, 1<<18)), PacketBytes: broadcast.MinPacketBytes,
		MaxPayload: 4000, MaxMessages: 256, Backlog: 1 << 20}
	l.padding = 64
	if o.Loaded {
		l.padding = 3000
		l.cast.Window = int(r.LogUniform(1<<13, 1<<16))
	}
	if o.Quorum && !o.Change {
		l.cast.Quorum = majorityOf(l.nodes)
	}
	if o.Wipes && !o.Change {
		l.cast.Quorum = drawVoters(r, l.nodes)
	}
	c.MaxPayload, c.Quorum = l.cast.MaxPayload, l.cast.Quorum
	return l
}

// majorityOf returns the quorum system of the majorities of a number of nodes.
func majorityOf(nodes int) quorum.System {
	var group timed.Set
	for id := range nodes {
		group.Add(timed.NodeID(id + 1))
	}
	q, err := quorum.Majority(group)
	if err != nil {
		panic(err) // no group
	}
	return q
}

// drawMix draws the orders and atomicities of operations: all that are ordered, or
// one of them.
func drawMix(r random.Stream, withTimed bool) (mix []broadcast.Options) {
	orders := []broadcast.Order{broadcast.TotalOrder}
	if withTimed {
		orders = append(orders, broadcast.TimedOrder)
	}
	for _, o := range orders {
		for _, a := range []broadcast.Atomicity{broadcast.WeakAtomicity, broadcast.StrongAtomicity, broadcast.StrictAtomicity} {
			mix = append(mix, broadcast.Options{Order: o, Atomicity: a})
		}
	}
	if r.Chance(0.4) {
		i := r.Below(int64(len(mix)))
		mix = mix[i : i+1]
	}
	return mix
}

// perTurn is how many operations a node broadcasts in a turn, on average.
const perTurn = 2

// bearable returns the largest pace at which all states are the same in time after
// the faults: no more operations come than applications can apply, and the state
// of all of them passes through the rate and the window of its source in a second.
func (l *load) bearable() float64 {
	const (
		lateness  = 2e-4 // of a timer, in seconds, on average
		roundTrip = 0.03 // of a chunk and its acknowledgement, in seconds
	)
	calls := 0.7 / (float64(l.slow)/2e9 + lateness)
	bytes := min(float64(l.replica.Rate), float64(l.replica.Window)/roundTrip)
	operations := bytes / float64(len(opID{})) / (rage + tail).Seconds()
	return min(calls, operations) / perTurn / float64(l.nodes)
}
