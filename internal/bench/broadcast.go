package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// BroadcastOptions are the choices of [Broadcast].
type BroadcastOptions struct {
	Setup
	Members     []int // sizes of groups
	Sizes       []int // of messages, in bytes
	Order       failaware.Order
	Atomicities []failaware.Atomicity
	All         []bool // all members send, or only the first
	// Loads are measured in this order; LoadHalf needs LoadSaturated before it.
	// Throughput of the raw floors comes with LoadSaturated, their latency with
	// LoadSlow and LoadAwake. None means CastLoads, without LoadAwake if it is not
	// possible.
	Loads []CastLoadName
	// Packet is the size of the largest packet in bytes of UDP payload; zero means
	// the largest that the loopback interface and the library take.
	Packet int
	// Procs is GOMAXPROCS of each node's process, at most MaxProcs; zero means its
	// share of the cores, and at least one: more threads mostly wake each other.
	Procs int
	For   time.Duration // of each measurement, after a tenth of it to warm up
}

// CastLoadName names a load of [Broadcast].
type CastLoadName string

// The loads: as many messages as the window takes; 100 messages a second of all senders
// together; the same while processors are kept from sleeping, like with Config.Awake;
// half as many as the first.
const (
	LoadSaturated CastLoadName = "saturated"
	LoadSlow      CastLoadName = "slow"
	LoadAwake     CastLoadName = "awake"
	LoadHalf      CastLoadName = "half"
)

// CastLoads are all loads.
var CastLoads = []CastLoadName{LoadSaturated, LoadSlow, LoadAwake, LoadHalf}

const (
	// MaxProcs bounds BroadcastOptions.Procs.
	MaxProcs      = 256
	maxCastFor    = time.Minute
	minCastPacket = 1200
	maxCastPacket = 60_000
	// castSlow is the number of messages per second of all senders together for
	// latency without load.
	castSlow = 100
)

// Broadcast measures the atomic broadcast of complete nodes, a process each, and in the
// same run the sockets alone: see [CastFloors]. Throughput is the rate at which the
// application of the slowest member receives while the senders send as much as the
// window allows. Latency is from the call of Broadcast until the applications of all
// members have the message. It needs Linux for the usage of processes.
func Broadcast(ctx context.Context, opt BroadcastOptions) (*BroadcastResult, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}
	ctx, cancel := opt.bounded(ctx)
	defer cancel()
	r := &BroadcastResult{Head: opt.head(BroadcastKind), Order: opt.Order.String(), Packet: opt.Packet, Seconds: opt.For.Seconds()}
	for _, n := range opt.Members {
		err := r.measure(ctx, &opt, n)
		if err != nil && ctx.Err() != nil && len(r.Cells) > 0 {
			r.CutShort = true
			break
		}
		if err != nil {
			return nil, fmt.Errorf("bench: broadcast of %d members: %w", n, err)
		}
	}
	r.aim()
	return r, nil
}

// Check returns an error if the choices make no sense.
func (o *BroadcastOptions) Check() error {
	errs := []error{within("procs", o.Procs, 0, MaxProcs), within("seconds", o.For, time.Millisecond, maxCastFor)}
	if o.Packet != 0 {
		errs = append(errs, within("packet", o.Packet, minCastPacket, maxCastPacket))
	}
	for _, n := range o.Members {
		errs = append(errs, within("nodes", n, 2, timed.MaxNodes))
	}
	for _, size := range o.Sizes {
		errs = append(errs, within("size", size, castHead, 1<<20))
	}
	for i, l := range o.Loads {
		if l == LoadHalf && !slices.Contains(o.Loads[:i], LoadSaturated) {
			errs = append(errs, errors.New("--load half: it is half of saturated, which must come before it"))
		}
		if l == LoadAwake {
			if err := MayKeepAwake(); err != nil {
				errs = append(errs, fmt.Errorf("--load awake: %w", err))
			}
		}
	}
	return errors.Join(errs...)
}

// complete fills in missing choices, and checks all.
func (o *BroadcastOptions) complete() error {
	if o.Packet == 0 {
		o.Packet = loopbackPacket()
	}
	if len(o.Loads) == 0 {
		o.Loads = slices.Clone(CastLoads)
		if err := MayKeepAwake(); err != nil {
			o.Loads = slices.DeleteFunc(o.Loads, func(l CastLoadName) bool { return l == LoadAwake })
			o.progress("without the load %s: %v", LoadAwake, err)
		}
	}
	return o.Check()
}

// loopbackPacket returns the size of the largest packet that the loopback interface
// carries without fragmentation, in bytes of UDP payload.
func loopbackPacket() int {
	const headers = 40 + 8 // of IPv6 and UDP
	interfaces, err := net.Interfaces()
	if err != nil {
		return minCastPacket
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback != 0 {
			return min(max(i.MTU-headers, minCastPacket), maxCastPacket)
		}
	}
	return minCastPacket
}

// procs returns GOMAXPROCS of the processes of a group.
func (o *BroadcastOptions) procs(members int) int {
	if o.Procs > 0 {
		return o.Procs
	}
	return max(1, runtime.NumCPU()/members)
}

// measure measures one size of the group.
func (r *BroadcastResult) measure(ctx context.Context, opt *BroadcastOptions, n int) error {
	g, err := opt.startGroup(ctx, n, func(g *group) { g.cast = &castSetup{Packet: opt.Packet, Procs: opt.procs(n)} })
	if err != nil {
		return err
	}
	defer g.stop()
	number := uint32(0)
	for _, size := range opt.Sizes {
		for _, all := range opt.All {
			floors, err := castFloors(ctx, opt, n, size, all)
			if err != nil {
				return err
			}
			for _, atomicity := range opt.Atomicities {
				run := castRun{Size: size, Order: opt.Order, Atomicity: atomicity}
				run.Senders.Add(1)
				for id := timed.NodeID(2); all && int(id) <= n; id++ {
					run.Senders.Add(id)
				}
				c, err := castCell(ctx, opt, g, run, &number)
				if err != nil {
					return err
				}
				r.Procs = max(r.Procs, c.Saturated.procs, c.Slow.procs, c.Awake.procs)
				c.Floors = floors.against(&c.Saturated)
				opt.progress("%d members, %d senders, %d bytes, %v: %.0f messages/s", n, c.Senders, size, atomicity,
					c.Saturated.Messages)
				r.Cells = append(r.Cells, *c)
			}
		}
	}
	return nil
}
