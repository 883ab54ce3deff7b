package bench

import (
	"context"
	"fmt"
	"slices"
)

// CastFloors are measurements of the sockets alone in the same run as the broadcast,
// with as many processes, senders and receivers. Missing measurements are zero.
type CastFloors struct {
	// Plain sends every message as a datagram of just its size, without offload.
	// Messages that do not fit into one datagram take several.
	Plain CastFloor `json:"plain,omitzero"`
	// Offload sends the same datagrams, several of which share a message of the
	// kernel if they can. It is zero if none can, because they are too large, or
	// the kernel has no offload.
	Offload CastFloor `json:"offload,omitzero"`
	// Packed sends packets of the broadcast's size, filled with messages or parts of
	// them, with offload.
	Packed CastFloor `json:"packed,omitzero"`
	// Slow is the latency of datagrams like those of Plain, at the rate of
	// BroadcastCell.Slow.
	Slow FloorLatency `json:"slow,omitzero"`
	// Awake is the same while processors are kept from sleeping.
	Awake FloorLatency `json:"awake,omitzero"`
}

// CastFloor is the throughput of one floor, and the share of it that the broadcast
// reached at saturation.
type CastFloor struct {
	FloorCell
	Share float64 `json:"share"`
}

// castFloorPart divides the time for the throughput of each floor, because
// there are several. Latency takes as long as that of the broadcast:
// percentiles compare only for equal numbers of messages.
const castFloorPart = 2

// castFloors measures the floors of the loads.
func castFloors(ctx context.Context, opt *BroadcastOptions, n, size int, all bool) (floors CastFloors, err error) {
	datagram := min(size, loopbackPacket())
	floor := floorOptions{Members: n, Size: size, All: all, Procs: opt.procs(n), For: opt.For / castFloorPart, Launch: opt.Launch}
	if slices.Contains(opt.Loads, LoadSaturated) {
		for _, way := range []struct {
			into   *CastFloor
			packet int
			plain  bool
		}{{&floors.Plain, datagram, true}, {&floors.Offload, datagram, false}, {&floors.Packed, opt.Packet, false}} {
			floor.Packet, floor.Plain = way.packet, way.plain
			if way.into.FloorCell, err = measureFloor(ctx, floor); err != nil {
				return floors, err
			}
		}
		if floors.Offload.Together == 0 {
			floors.Offload = CastFloor{}
		}
	}
	floor.Packet, floor.Plain, floor.For = datagram, false, opt.For
	if slices.Contains(opt.Loads, LoadSlow) {
		if floors.Slow, err = measureFloorLatency(ctx, floor, castSlow); err != nil {
			return floors, err
		}
	}
	if slices.Contains(opt.Loads, LoadAwake) {
		err = keepAwake(func() (err error) {
			floors.Awake, err = measureFloorLatency(ctx, floor, castSlow)
			return err
		})
	}
	return floors, err
}

// against returns the floors with the shares that a load at saturation reached.
func (f CastFloors) against(l *CastLoad) CastFloors {
	for _, floor := range []*CastFloor{&f.Plain, &f.Offload, &f.Packed} {
		if floor.Bytes > 0 {
			floor.Share = l.Bytes / floor.Bytes
		}
	}
	return f
}

// castFloorHead and row are the columns of the floors' throughput.
var castFloorHead = []string{"plain floor MB/s", "of it %", "offload MB/s", "of it %", "packed MB/s", "of it %"}

func (f *CastFloors) row() (row []string) {
	for _, floor := range []*CastFloor{&f.Plain, &f.Offload, &f.Packed} {
		if floor.Bytes == 0 {
			row = append(row, "-", "-")
			continue
		}
		row = append(row, fmt.Sprintf("%.1f", floor.Bytes/1e6), fmt.Sprintf("%.0f", 100*floor.Share))
	}
	return row
}
