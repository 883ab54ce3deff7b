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
	Members     []int // sizes of groups
	Sizes       []int // of messages, in bytes
	Order       failaware.MessageOrder
	Atomicities []failaware.Atomicity
	All         []bool // who sends: the first member, or all
	// Loads are what is measured, in this order; LoadHalf needs LoadSaturated before
	// it. Throughput of the raw floors comes with LoadSaturated, their latency with
	// LoadSlow and LoadAwake. None means CastLoads, without LoadAwake where that
	// cannot be had.
	Loads []CastLoadName
	// Packet is the size of the largest packet in bytes of UDP payload; zero means
	// the largest that the loopback interface and the library take.
	Packet int
	// Procs is GOMAXPROCS of each node's process, at most MaxProcs; zero means its
	// share of the cores, and at least one: more threads than that mostly wake
	// each other.
	Procs  int
	Preset string
	Timing timed.Timing
	For    time.Duration // of each measurement, after a tenth of it to get going
	Limit  time.Duration // of all; what was measured until then is the result
	Launch Launcher      // must start processes
	// Progress gets what is going on, if not nil.
	Progress func(format string, args ...any)
}

// CastLoadName names a load of [Broadcast].
type CastLoadName string

// The loads: as many messages as the window takes; 100 messages a second of all
// senders together; the same while processors are kept from sleeping, as Config.Awake
// keeps them; half as many as the first.
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
	// castSlow is how many messages per second all senders together send, where
	// latency without load is measured.
	castSlow = 100
)

// Broadcast measures the atomic broadcast of whole nodes, a process each, and what
// the sockets alone do in the same run: see [CastFloors]. Throughput is what the
// application of the slowest member receives while the senders send as much as the
// window takes. Latency is from the call of Broadcast until the applications of all
// members have the message. It needs Linux, which tells what processes use.
func Broadcast(ctx context.Context, opt BroadcastOptions) (*BroadcastResult, error) {
	if err := opt.complete(); err != nil {
		return nil, fmt.Errorf("bench: broadcast: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, opt.Limit, errLimit)
	defer cancel()
	r := &BroadcastResult{Machine: machine(), Preset: opt.Preset, Order: opt.Order.String(), Packet: opt.Packet,
		Seconds: opt.For.Seconds()}
	for _, n := range opt.Members {
		err := r.measure(ctx, &opt, n)
		if errors.Is(err, errLimit) && len(r.Cells) > 0 {
			r.Cut = true
			break
		}
		if err != nil {
			return nil, fmt.Errorf("bench: broadcast of %d members: %w", n, err)
		}
	}
	r.aim()
	return r, nil
}

var errLimit = errors.New("the time is up")

// complete checks the choices, and makes those that were left.
func (o *BroadcastOptions) complete() error {
	if o.Packet == 0 {
		o.Packet = loopbackPacket()
	}
	switch {
	case o.Launch == nil:
		return errors.New("members need processes of their own")
	case o.Packet < minCastPacket || o.Packet > maxCastPacket:
		return fmt.Errorf("packets of %d bytes are outside [%d, %d]", o.Packet, minCastPacket, maxCastPacket)
	case o.Procs < 0 || o.Procs > MaxProcs:
		return fmt.Errorf("a GOMAXPROCS of %d is outside [0, %d]", o.Procs, MaxProcs)
	case o.For <= 0 || o.For > maxCastFor:
		return fmt.Errorf("a time of %v is outside (0, %v]", o.For, maxCastFor)
	case o.Limit <= 0:
		return errors.New("a limit is needed")
	}
	chosen := len(o.Loads) > 0
	if !chosen {
		o.Loads = slices.Clone(CastLoads)
	}
	if at := slices.Index(o.Loads, LoadAwake); at >= 0 {
		switch err := MayKeepAwake(); {
		case err != nil && chosen:
			return fmt.Errorf("the load %q: %w", LoadAwake, err)
		case err != nil:
			o.Loads = slices.Delete(o.Loads, at, at+1)
			o.progress("without the load %s: %v", LoadAwake, err)
		}
	}
	for i, l := range o.Loads {
		switch {
		case !slices.Contains(CastLoads, l):
			return fmt.Errorf("there is no load %q", l)
		case l == LoadHalf && !slices.Contains(o.Loads[:i], LoadSaturated):
			return fmt.Errorf("the load %q needs %q before it", LoadHalf, LoadSaturated)
		}
	}
	for _, n := range o.Members {
		if n < 2 || n > timed.MaxNodes {
			return fmt.Errorf("a group has 2 to %d members", timed.MaxNodes)
		}
	}
	for _, size := range o.Sizes {
		if size < castHead || size > 1<<20 {
			return fmt.Errorf("messages of %d bytes are outside [%d, %d]", size, castHead, 1<<20)
		}
	}
	return nil
}

// loopbackPacket returns the size of the largest packet that the loopback
// interface takes whole, in bytes of UDP payload.
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

func (o *BroadcastOptions) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(format, args...)
	}
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
	g, err := newGroup(opt.Launch, n, opt.Timing)
	if err != nil {
		return err
	}
	g.cast = &castSetup{Packet: opt.Packet, Procs: opt.procs(n)}
	defer g.stop()
	if err := g.startAll(ctx); err != nil {
		return err
	}
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
