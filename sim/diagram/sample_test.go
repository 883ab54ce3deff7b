package diagram

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

const ms = time.Millisecond

// sampleRun is a run as five nodes on a local network have it: an election, a
// split into two groups with a leader each, the merge, a crash with restart,
// and a stall. Each node polls all others every 25 ms.
func sampleRun() *Run {
	r := &Run{
		Title:    "Seed 17: split, merge, crash",
		Subtitle: "5 nodes, mode available, rank stable, election period 25 ms, Δ 10 ms, delays 0.1–5 ms",
		IDs:      []string{"id 1", "id 2", "id 3", "id 4", "id 5"},
		Nodes:    []string{"n1", "n2", "n3", "n4", "n5"},
		To:       760 * ms,
	}
	sampleMessages(r)
	sampleLeads(r)
	sampleViews(r)
	sampleMarks(r)
	return r
}

// brokenRun is a close look at a run in which a promise is broken.
func brokenRun() *Run {
	r := sampleRun()
	r.Title = "Seed 4711: two leaders count on node 3"
	r.Marks = append(r.Marks, Mark{Node: 2, Kind: Violation, At: 331 * ms,
		Label: "SO: the support of leader 1, {1,2,3}, meets that of leader 3, {3,4,5}: the vote of 3 moved 31 ms before its lease ended"},
		Mark{Node: All, Kind: Fault, At: 300 * ms, Label: "cut 1→3"},
		Mark{Node: All, Kind: Fault, At: 302 * ms, Label: "cut 2→3"},
		Mark{Node: All, Kind: Fault, At: 335 * ms, Label: "delay 4→5 by 30 ms"})
	return r
}

// crowdedRun has n messages.
func crowdedRun(n int) *Run {
	r := sampleRun()
	r.Title = fmt.Sprintf("%d messages", n)
	r.Messages = nil
	for i := range n {
		at := time.Duration(i) * (r.To - 10*ms) / time.Duration(n)
		r.Messages = append(r.Messages, Message{From: i % 5, To: (i + 1 + i/5%4) % 5, Sent: at,
			Arrived: at + ms, Fate: Fate(i / 7 % 3), Keepalive: i%3 == 0, Label: "x"})
	}
	return r
}

// sampleUp reports whether a node of the sample runs.
func sampleUp(node int, at time.Duration) bool { return node != 3 || at < 520*ms || at > 612*ms }

// sampleLeader reports whether a node asks for votes.
func sampleLeader(node int, at time.Duration) bool {
	switch {
	case at < 55*ms:
		return true
	case node == 0:
		return true
	case node == 2:
		return at > 290*ms && at < 450*ms
	case node == 3 || node == 4:
		return at > 290*ms && at < 320*ms
	}
	return false
}

func sampleMessages(r *Run) {
	random := rand.New(rand.NewPCG(17, 4))
	delay := func() time.Duration {
		d := random.ExpFloat64() * 0.9
		return time.Duration((0.1 + min(d, 4.9)) * float64(ms))
	}
	cut := func(a, b int, at time.Duration) bool {
		return at > 200*ms && at < 420*ms && (a < 2) != (b < 2)
	}
	send := func(from, to int, at time.Duration, label string, keepalive bool) (arrived time.Duration, ok bool) {
		m := Message{From: from, To: to, Sent: at, Arrived: at + delay(), Label: label, Keepalive: keepalive}
		if random.IntN(40) == 0 {
			m.Fate, m.Arrived = Slow, at+12*ms+8*delay()
		}
		if cut(from, to, at) || !sampleUp(to, m.Arrived) || random.IntN(60) == 0 {
			m.Fate = Lost
		}
		r.Messages = append(r.Messages, m)
		return m.Arrived, m.Fate != Lost
	}
	for node := range r.Nodes {
		for at := time.Duration(node+2) * 3 * ms; at < r.To; at += 25 * ms {
			if !sampleUp(node, at) || node == 4 && at > 640*ms && at < 668*ms {
				continue
			}
			for to := range r.Nodes {
				switch {
				case to == node:
				case sampleLeader(node, at):
					if arrived, ok := send(node, to, at, "request", false); ok && sampleUp(to, arrived) {
						send(to, node, arrived, "vote", false)
					}
				default:
					send(node, to, at, "", true)
				}
			}
		}
	}
}

// bar adds a bar; from and to are in milliseconds.
func (r *Run) bar(node int, kind BarKind, from, to, group int, label string) {
	r.Bars = append(r.Bars, Bar{Node: node, Kind: kind, From: time.Duration(from) * ms,
		To: time.Duration(to) * ms, Group: group, Label: label})
}

func sampleLeads(r *Run) {
	r.bar(0, Lead, 55, 268, 0, "{1,2,3,4,5}")
	r.bar(0, Lead, 268, 478, 0, "{1,2}")
	r.bar(0, Lead, 478, 588, 0, "{1,2,3,4,5}")
	r.bar(0, Lead, 588, 688, 0, "{1,2,3,5}")
	r.bar(0, Lead, 688, 760, 0, "{1,2,3,4,5}")
	r.bar(2, Lead, 318, 448, 2, "{3,4,5}")
	for node := range r.Nodes {
		late := 2 * node
		lockEnd := 760
		if node >= 2 {
			lockEnd = 284 + late
			r.bar(node, Lock, 300+late, 450+late, 2, "")
			if node == 3 {
				r.bar(node, Lock, 470+late, 520, 0, "")
				r.bar(node, Lock, 684, 760, 0, "")
			} else {
				r.bar(node, Lock, 470+late, 760, 0, "")
			}
		}
		r.bar(node, Lock, 36+late, lockEnd, 0, "")
	}
}

func sampleViews(r *Run) {
	for node := range r.Nodes {
		late := 2 * node
		r.bar(node, View, 82+late, 262-late, 1, "v1 {1,2,3,4,5}")
		if node < 2 {
			r.bar(node, Stale, 262-late, 294+late, 1, "v1 {1,2,3,4,5}")
			r.bar(node, View, 294+late, 486+late, 2, "v2 {1,2}")
		} else {
			r.bar(node, Stale, 262-late, 346+late, 1, "v1 {1,2,3,4,5}")
			r.bar(node, View, 346+late, 446-late, 3, "v3 {3,4,5}")
			r.bar(node, Stale, 446-late, 486+late, 3, "v3 {3,4,5}")
		}
		if node == 3 {
			r.bar(node, View, 486+late, 520, 4, "v4 {1,2,3,4,5}")
			r.bar(node, Down, 520, 612, 0, "")
			r.bar(node, View, 702, 760, 6, "v6 {1,2,3,4,5}")
			continue
		}
		r.bar(node, View, 486+late, 584-late, 4, "v4 {1,2,3,4,5}")
		r.bar(node, Stale, 584-late, 604+late, 4, "v4 {1,2,3,4,5}")
		r.bar(node, View, 604+late, 692+late, 5, "v5 {1,2,3,5}")
		r.bar(node, View, 692+late, 760, 6, "v6 {1,2,3,4,5}")
	}
	r.bar(4, Stalled, 640, 668, 0, "")
}

func sampleMarks(r *Run) {
	mark := func(node int, kind MarkKind, at int, label string) {
		r.Marks = append(r.Marks, Mark{Node: node, Kind: kind, At: time.Duration(at) * ms, Label: label})
	}
	mark(All, Fault, 200, "split {1,2} {3,4,5}")
	mark(All, Fault, 420, "heal")
	mark(3, Fault, 520, "crash")
	mark(3, Fault, 612, "restart")
	mark(0, Event, 55, "elected")
	mark(2, Event, 318, "elected")
	mark(2, Event, 448, "resigns to 1")
	for i := range 8 {
		mark(1, App, 100+i*19, "m"+strconv.Itoa(i+1))
	}
	mark(4, App, 380, "deliver m9")
}
