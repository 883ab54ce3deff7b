package bench

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/failaware/failaware/timed"
)

// BroadcastResult is the result of [Broadcast].
type BroadcastResult struct {
	Head
	Order   string          `json:"order"`
	Packet  int             `json:"largest_packet"` // in bytes
	Procs   int             `json:"procs"`          // GOMAXPROCS of the nodes' processes
	Seconds float64         `json:"seconds"`        // of each measurement
	Cells   []BroadcastCell `json:"cells"`
}

// BroadcastCell is the result for one size of the group and of messages.
type BroadcastCell struct {
	Members   int      `json:"members"`
	Senders   int      `json:"senders"`
	Size      int      `json:"size"`
	Atomicity string   `json:"atomicity"`
	Saturated CastLoad `json:"saturated"` // as many messages as the window takes
	Slow      CastLoad `json:"slow"`      // 100 messages a second
	Awake     CastLoad `json:"awake"`     // the same while processors are kept from sleeping
	Half      CastLoad `json:"half_load"` // half of the messages at saturation
	// Floors are measurements of the sockets alone in the same run.
	Floors CastFloors `json:"floors"`
}

// CastLoad is the result for one load.
type CastLoad struct {
	// Messages and Bytes per second are those that the application of the slowest
	// member received.
	Messages float64 `json:"messages_per_second"`
	Bytes    float64 `json:"bytes_per_second"`
	// PerMessage is the processor time of all members by those messages.
	PerMessage time.Duration `json:"cpu_per_message_ns"`
	Cores      float64       `json:"cores"` // busy processors
	// Latency is the latency of traced messages, from the call of Broadcast until the
	// last member's application has the message.
	Latency Summary `json:"latency"`
	// Missing is the number of traced messages that did not reach all members in
	// time.
	Missing  int    `json:"missing"`
	Views    uint64 `json:"views"`    // installed at the member that had most of them
	Overflow uint64 `json:"overflow"` // messages that the kernel dropped at sockets: full buffers, or wrong checksums
	procs    int
}

// sumUpCast combines the counters of the members.
func sumUpCast(counts []*castCount) (l CastLoad) {
	traces := make([][]castTrace, len(counts))
	for i, c := range counts {
		seconds := c.Elapsed.Seconds()
		if had := float64(c.Messages) / seconds; i == 0 || had < l.Messages {
			l.Messages, l.Bytes = had, float64(c.Bytes)/seconds
		}
		l.Cores += c.CPU.Seconds() / seconds
		l.Views = max(l.Views, c.Views)
		l.Overflow += c.Overflow
		l.procs = max(l.procs, c.Procs)
		traces[i] = c.Traces
	}
	if l.Messages > 0 {
		l.PerMessage = time.Duration(l.Cores / l.Messages * float64(time.Second))
	}
	l.Latency, l.Missing = sumUpTraces(traces)
	return l
}

// sumUpTraces combines the traces of the members: the time until the last member had a
// message, and the number of messages that did not reach all.
func sumUpTraces(members [][]castTrace) (latency Summary, missing int) {
	type key struct {
		sender timed.NodeID
		number uint32
		sent   timed.Instant
	}
	type way struct {
		members int
		took    time.Duration
	}
	ways := map[key]way{}
	for _, traces := range members {
		for _, t := range traces {
			k := key{t.Sender, t.Number, t.Sent}
			w := ways[k]
			ways[k] = way{w.members + 1, max(w.took, t.Had.Sub(t.Sent))}
		}
	}
	var all []time.Duration
	for _, w := range ways {
		if w.members < len(members) {
			missing++
			continue
		}
		all = append(all, w.took)
	}
	return Summarize(all), missing
}

// castAims are aims for a machine of two cores: messages or bytes per second at
// saturation, by members and size.
var castAims = []struct {
	members, size   int
	messages, bytes float64
}{
	{3, 64, 500e3, 0}, {3, 1024, 0, 150e6}, {3, 16384, 0, 400e6},
	{5, 64, 300e3, 0}, {5, 1024, 0, 100e6}, {5, 16384, 0, 250e6},
}

// aim compares the cells with the aims.
func (r *BroadcastResult) aim() {
	for i := range r.Cells {
		c := &r.Cells[i]
		name := fmt.Sprintf("%d members, %d bytes, %s, %d sending", c.Members, c.Size, c.Atomicity, c.Senders)
		for _, a := range castAims {
			if c.Saturated.Messages == 0 || a.members != c.Members || a.size != c.Size {
				continue
			}
			if a.messages > 0 {
				r.Aims = append(r.Aims, aimLeast(name, c.Saturated.Messages/1e3, a.messages/1e3, "k/s"))
			} else {
				r.Aims = append(r.Aims, aimLeast(name, c.Saturated.Bytes/1e6, a.bytes/1e6, "MB/s"))
			}
		}
		if c.Size == 1024 && c.Floors.Plain.Bytes > 0 {
			r.Aims = append(r.Aims, aimLeast(name+", of the plain floor", 100*c.Floors.Plain.Share, 40, "%"))
		}
		if c.Members != 3 {
			continue
		}
		p50, p99 := 120*time.Microsecond, 500*time.Microsecond
		switch c.Atomicity {
		case "weak":
		case "strict":
			p50, p99 = 200*time.Microsecond, 700*time.Microsecond
		default:
			continue
		}
		for _, load := range []struct {
			name string
			of   *Summary
		}{{"100/s", &c.Slow.Latency}, {"100/s awake", &c.Awake.Latency}} {
			if load.of.Count > 0 {
				r.Aims = append(r.Aims, aimMillis(name+", "+load.name+", p50", load.of.P50, p50),
					aimMillis(name+", "+load.name+", p99", load.of.P99, p99))
			}
		}
	}
}

// Text implements [Result].
func (r *BroadcastResult) Text(w io.Writer) error {
	rows := [][]string{slices.Concat([]string{"members", "senders", "bytes", "atomicity", "messages/s", "MB/s", "CPU/message", "p50", "p99",
		"views", "lost"}, castFloorHead, []string{"100/s p50", "p99", "floor 100/s p50", "p99",
		"100/s awake p50", "p99", "floor awake p50", "p99", "half load p50", "p99"})}
	for i := range r.Cells {
		c := &r.Cells[i]
		s := &c.Saturated
		row := slices.Concat([]string{fmt.Sprint(c.Members), fmt.Sprint(c.Senders), fmt.Sprint(c.Size), c.Atomicity,
			fmt.Sprintf("%.0f", s.Messages), fmt.Sprintf("%.1f", s.Bytes/1e6), show(s.PerMessage),
			show(s.Latency.P50), show(s.Latency.P99), fmt.Sprint(s.Views), fmt.Sprint(s.Overflow)}, c.Floors.row())
		for _, l := range []*Summary{&c.Slow.Latency, &c.Floors.Slow.Latency, &c.Awake.Latency, &c.Floors.Awake.Latency, &c.Half.Latency} {
			row = append(row, show(l.P50), show(l.P99))
		}
		rows = append(rows, row)
	}
	return r.text(w, fmt.Sprintf("a process per member, timing %s, GOMAXPROCS %d, order %s, packets of up to %d bytes, %.1f s each; at the slowest member",
		r.Preset, r.Procs, r.Order, r.Packet, r.Seconds), rows,
		"raw floors: plain, a datagram per message; offload, the same with several in a message of the kernel;",
		"packed, packets as large as those of the broadcast, full of messages; of it: our MB/s by those of the floor")
}
