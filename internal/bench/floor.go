package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware/timed"
)

// FloorOptions are the choices of [Floor].
type FloorOptions struct {
	Members []int // sizes of groups
	Sizes   []int // of messages, in bytes
	All     bool  // every member sends; otherwise the first one does
	// Packet is the size of the largest packet in bytes of UDP payload. Small
	// messages share packets, large ones take several. Zero means 1,200.
	Packet int
	// Window is how many bytes a sender has under way to the slowest receiver at
	// most, as far as the receiver's buffer has room for them. Zero means 256 KiB.
	Window int
	// Buffer is the size in bytes of the receive and the send buffer of each
	// socket. Zero means 4 MiB.
	Buffer int
	// Plain moves every packet through the kernel by itself.
	Plain bool
	// Procs is GOMAXPROCS of each process; zero leaves it to Go.
	Procs  int
	For    time.Duration // measured per group and size, after a tenth of it to get going
	Launch Launcher
}

const (
	defaultFloorPacket = 1200
	defaultFloorWindow = 256 << 10
	defaultFloorBuffer = 4 << 20
	maxFloorPacket     = 65_000
	maxFloorFor        = time.Minute
)

// FloorResult is what [Floor] found.
type FloorResult struct {
	Machine Machine     `json:"machine"`
	Setup   string      `json:"setup"`
	Cells   []FloorCell `json:"cells"`
}

// FloorCell is the result for one size of the group and of messages.
type FloorCell struct {
	Members int `json:"members"`
	Size    int `json:"size"`
	// Packet is the size of the largest packets in bytes, full of messages or
	// parts of them.
	Packet  int `json:"packet"`
	Senders int `json:"senders"`
	// Messages and Bytes per second are those that the slowest member had: what
	// arrived, and what it sent itself.
	Messages float64 `json:"messages_per_second"`
	Bytes    float64 `json:"bytes_per_second"`
	// Packets per second that arrived at all members together; each has been sent
	// once and received once.
	Packets float64 `json:"packets_per_second"`
	// Lost is the part of the packets that never arrived, and Together the part
	// that shared messages of the kernel, by send offload.
	Lost     float64 `json:"lost"`
	Together float64 `json:"sent_together"`
	Procs    int     `json:"procs"` // GOMAXPROCS of the processes
	// PerPacket is the processor time of all members by the packets that arrived,
	// PerMessage that by the messages of the slowest member, and Cores is how many
	// were busy.
	PerPacket  time.Duration `json:"cpu_per_packet_ns"`
	PerMessage time.Duration `json:"cpu_per_message_ns"`
	Cores      float64       `json:"cores"`
}

// Floor measures what the sockets alone carry of a broadcast: each message goes to
// every other member, and nothing is ordered, kept, or sent again. There is just
// the flow control without which most packets would be lost to full buffers, and
// the processor with them: receivers tell how many packets they have had. Members
// run in a process each. It needs Linux, which tells what processes use.
func Floor(ctx context.Context, opt FloorOptions) (*FloorResult, error) {
	if err := opt.complete(); err != nil {
		return nil, fmt.Errorf("bench: the floor of broadcast: %w", err)
	}
	r := &FloorResult{Machine: machine(), Setup: fmt.Sprintf("a process per member, packets of up to %d bytes, "+
		"%d KiB under way per sender", opt.Packet, opt.Window>>10)}
	if opt.Plain {
		r.Setup += ", without offload"
	}
	err := opt.each(ctx, 0, func(run *floorRun, counts []floorCount) { r.Cells = append(r.Cells, floorCell(run, counts)) })
	if err != nil {
		return nil, fmt.Errorf("bench: the floor of broadcast: %w", err)
	}
	return r, nil
}

// complete checks the choices, and makes those that were left.
func (o *FloorOptions) complete() error {
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
	}
	for _, n := range o.Members {
		if n < 2 || n > timed.MaxNodes {
			return fmt.Errorf("a group has 2 to %d members", timed.MaxNodes)
		}
	}
	for _, size := range o.Sizes {
		if size < floorHead {
			return fmt.Errorf("messages have %d bytes or more", floorHead)
		}
	}
	return nil
}

// floorCell sums up what the members counted.
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

// Text writes the result as a table.
func (r *FloorResult) Text(w io.Writer) {
	p := page{w}
	p.machine(r.Machine)
	p.line("setup: %s; at the slowest member", r.Setup)
	rows := [][]string{{"members", "senders", "bytes", "packet", "messages/s", "MB/s", "all packets/s", "lost %", "together %",
		"CPU/packet", "CPU/message", "cores"}}
	for _, c := range r.Cells {
		rows = append(rows, []string{fmt.Sprint(c.Members), fmt.Sprint(c.Senders), fmt.Sprint(c.Size), fmt.Sprint(c.Packet),
			fmt.Sprintf("%.0f", c.Messages), fmt.Sprintf("%.1f", c.Bytes/1e6), fmt.Sprintf("%.0f", c.Packets),
			fmt.Sprintf("%.2f", 100*c.Lost), fmt.Sprintf("%.0f", 100*c.Together), show(c.PerPacket), show(c.PerMessage), fmt.Sprintf("%.2f", c.Cores)})
	}
	p.table(rows)
}
