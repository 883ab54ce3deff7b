package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/failaware/failaware/timed"
)

// floorOptions are the choices of [measureFloor] and [measureFloorLatency].
type floorOptions struct {
	Members int
	Size    int  // of messages, in bytes
	All     bool // every member sends; otherwise the first one does
	// Packet is the size of the largest packet in bytes of UDP payload. Small
	// messages share packets, large ones take several. Zero means 1,200.
	Packet int
	// Window is the limit of bytes that a sender has under way to the slowest
	// receiver, within the receiver's buffer. Zero means 256 KiB.
	Window int
	// Buffer is the size in bytes of the receive and the send buffer of each
	// socket. Zero means 4 MiB.
	Buffer int
	// Plain moves every packet through the kernel by itself.
	Plain bool
	// Procs is GOMAXPROCS of each process; zero leaves it to Go.
	Procs  int
	For    time.Duration // measured per group and size, after a tenth of it to warm up
	Launch Launcher
}

const (
	defaultFloorPacket = 1200
	defaultFloorWindow = 256 << 10
	defaultFloorBuffer = 4 << 20
	maxFloorPacket     = 65_000
	maxFloorFor        = time.Minute
)

// FloorCell is the result for one size of the group and of messages.
type FloorCell struct {
	Members int `json:"members"`
	Size    int `json:"size"`
	// Packet is the size of the largest packets in bytes, full of messages or
	// parts of them.
	Packet  int `json:"packet"`
	Senders int `json:"senders"`
	// Messages and Bytes per second are those that the slowest member received or sent.
	Messages float64 `json:"messages_per_second"`
	Bytes    float64 `json:"bytes_per_second"`
	// Packets per second that arrived at all members together. Each has been sent
	// once and received once.
	Packets float64 `json:"packets_per_second"`
	// Lost is the share of packets that never arrived, and Together the share that
	// shared messages of the kernel, by send offload.
	Lost     float64 `json:"lost"`
	Together float64 `json:"sent_together"`
	Procs    int     `json:"procs"` // GOMAXPROCS of the processes
	// PerPacket is the processor time of all members divided by the arrived
	// packets, PerMessage divided by the messages of the slowest member, and Cores
	// is the number of busy processors.
	PerPacket  time.Duration `json:"cpu_per_packet_ns"`
	PerMessage time.Duration `json:"cpu_per_message_ns"`
	Cores      float64       `json:"cores"`
}

// measureFloor measures a broadcast by the sockets alone: each message goes to every
// other member, without order, storage or retransmission. There is only flow control, by
// counts of received packets: without it, full buffers would lose most packets, and the
// processor time spent on them. Members run in a process each. It needs Linux for the
// usage of processes.
func measureFloor(ctx context.Context, opt floorOptions) (FloorCell, error) {
	err := opt.complete()
	if err == nil {
		var run *floorRun
		var counts []floorCount
		if run, counts, err = opt.measure(ctx, 0); err == nil {
			return floorCell(run, counts), nil
		}
	}
	return FloorCell{}, fmt.Errorf("the floor of broadcast with %d members: %w", opt.Members, err)
}

// complete fills in missing choices, and checks all.
func (o *floorOptions) complete() error {
	for _, d := range []struct {
		at   *int
		zero int
	}{{&o.Packet, defaultFloorPacket}, {&o.Window, defaultFloorWindow}, {&o.Buffer, defaultFloorBuffer}} {
		if *d.at == 0 {
			*d.at = d.zero
		}
	}
	switch {
	case o.Launch == nil:
		return errors.New("members need processes of their own")
	case o.Packet < floorHead || o.Packet > maxFloorPacket:
		return fmt.Errorf("packets of %d bytes are outside [%d, %d]", o.Packet, floorHead, maxFloorPacket)
	case o.Window < floorCredits*o.Packet:
		return fmt.Errorf("a window of %d bytes holds less than %d packets", o.Window, floorCredits)
	case o.For <= 0 || o.For > maxFloorFor:
		return fmt.Errorf("a time of %v is outside (0, %v]", o.For, maxFloorFor)
	case o.Members < 2 || o.Members > timed.MaxNodes:
		return fmt.Errorf("a group has 2 to %d members", timed.MaxNodes)
	case o.Size < floorHead:
		return fmt.Errorf("messages have %d bytes or more", floorHead)
	}
	return nil
}

// floorCell combines the counters of the members.
func floorCell(run *floorRun, counts []floorCount) FloorCell {
	c := FloorCell{Members: len(counts), Size: run.Size, Packet: run.sizes()[0], Senders: run.Senders.Len()}
	var cpu time.Duration
	var packets, sent, lost, together uint64
	for i, m := range counts {
		seconds := m.Elapsed.Seconds()
		had := float64(m.OwnBytes+m.Bytes) / seconds
		if i == 0 || had < c.Bytes {
			c.Bytes = had
		}
		c.Packets += float64(m.Packets) / seconds
		c.Cores += m.CPU.Seconds() / seconds
		cpu += m.CPU
		packets += m.Packets
		sent += m.Sent
		lost += m.Lost
		together += m.Together
		c.Procs = max(c.Procs, m.Procs)
	}
	c.Messages = c.Bytes / float64(c.Size)
	if sent > 0 {
		c.Lost = float64(lost) / float64(sent)
		c.Together = float64(together) / float64(sent)
	}
	if packets > 0 {
		c.PerPacket = cpu / time.Duration(packets)
	}
	if c.Messages > 0 {
		c.PerMessage = time.Duration(c.Cores / c.Messages * float64(time.Second))
	}
	return c
}
