package bench

import (
	"context"
	"time"
)

// floorOptions are the choices of [measureFloor] and [measureFloorLatency].
type floorOptions struct {
	Members int
	Size    int  // of messages, in bytes
	All     bool // every member sends; otherwise the first one does
	Rounds  bool // receivers answer each packet: see measureFloorRounds
	// Packet is the size of the largest packet in bytes of UDP payload. Small
	// messages share packets, large ones take several.
	Packet int
	// Plain moves every packet through the kernel separately, without offload.
	Plain bool
	// Procs is GOMAXPROCS of each process; zero leaves it to Go.
	Procs  int
	For    time.Duration // measured per group and size, after a tenth of it to warm up
	Launch Launcher
}

const (
	// floorWindow is the limit of bytes that a sender has under way to the slowest
	// receiver: a few of the largest packets.
	floorWindow = 1 << 20
	// floorBuffer is the size in bytes of the receive and the send buffer of each
	// socket. The kernel charges small packets at several times their size, and windows
	// that shrink for that reason must not slow the floor down.
	floorBuffer = 8 << 20
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
	run, counts, err := opt.measure(ctx, 0)
	if err != nil {
		return FloorCell{}, err
	}
	return floorCell(run, counts), nil
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
