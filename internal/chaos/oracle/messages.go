package oracle

import (
	"fmt"
	"maps"
	"slices"
)

// segment has the deliveries of one process in one view.
type segment struct {
	log   *Log
	view  string
	next  string // the view that followed; empty if none did
	items []*Record
}

// segments cuts the deliveries of a process at the changes of views.
func segments(l *Log, group string) (out []segment) {
	now := segment{log: l}
	for i := range l.Records {
		r := &l.Records[i]
		if r.Group != group {
			continue
		}
		switch r.Kind {
		case Deliver:
			now.items = append(now.items, r)
		case Change:
			now.next = r.View
			out = append(out, now)
			now = segment{log: l, view: r.View}
		case Restart:
			out = append(out, now)
			now = segment{log: l}
		}
	}
	return append(out, now)
}

// messages checks the deliveries of a group.
func (h *History) messages(group string) (out []Violation) {
	out = append(out, h.invented(group)...)
	var all []segment
	for _, l := range h.Logs {
		own := segments(l, group)
		out = append(out, repeated(own)...)
		out = append(out, lost(l, group)...)
		all = append(all, own...)
	}
	out = append(out, placed(all)...)
	out = append(out, together(all)...)
	out = append(out, stamped(all)...)
	return append(out, strict(all)...)
}

// invented finds deliveries of messages that were not sent so, and ids with two messages.
func (h *History) invented(group string) (out []Violation) {
	sent := map[string]int{}
	for l, r := range h.records(group, Send) {
		sent[r.Text] = l.Node
	}
	texts, ids := map[Message]string{}, map[string]Message{}
	for l, r := range h.records(group, Deliver) {
		text, again := texts[*r.ID]
		id, known := ids[r.Text]
		switch sender, ok := sent[r.Text]; {
		case !ok || sender != r.ID.Sender:
			out = append(out, Violation{"a delivery was broadcast", fmt.Sprintf("node %d was given %q as %v", l.Node, r.Text, *r.ID)})
		case again && text != r.Text, known && id != *r.ID:
			out = append(out, Violation{"a message has one id", fmt.Sprintf("node %d was given %q as %v, and it is %q or %v elsewhere", l.Node, r.Text, *r.ID, text, id)})
		}
		texts[*r.ID], ids[r.Text] = r.Text, *r.ID
	}
	return out
}

// stream names a sender's messages of one class.
func stream(m Message) Message {
	m.Sequence = 0
	return m
}

// repeated finds messages that a process was given twice, or out of their sender's order. A
// new incarnation may get earlier messages again.
func repeated(own []segment) (out []Violation) {
	latest := map[Message]uint64{}
	for _, s := range own {
		for _, r := range s.items {
			of := stream(*r.ID)
			if r.ID.Sequence <= latest[of] {
				out = append(out, Violation{"once, and in the sender's order",
					fmt.Sprintf("node %d was given %v in view %s after sequence %d", s.log.Node, *r.ID, s.view, latest[of])})
			}
			latest[of] = r.ID.Sequence
		}
		if s.next == "" {
			latest = map[Message]uint64{}
		}
	}
	return out
}

// lost finds messages that were delivered to their sender although it was told that their
// outcome is unknown.
func lost(l *Log, group string) (out []Violation) {
	given := map[Message]bool{}
	for r := range l.records(group, Deliver) {
		if r.ID.Sender == l.Node {
			given[*r.ID] = true
		}
	}
	for r := range l.records(group, Lost) {
		for m := *r.ID; m.Sequence <= r.Number; m.Sequence++ {
			if given[m] {
				out = append(out, Violation{"a message has one outcome", fmt.Sprintf("node %d was given %v, and told that it is lost", l.Node, m)})
			}
		}
	}
	return out
}

// ordered reports whether a record is of an ordered message with a final place in the view.
// Transitional messages need not have one: those that wait behind a timed message are ordered
// by its stamp, and branches of the group part there.
func ordered(r *Record) bool { return r.Order != "" && !r.Weakened }

// placed finds places of a view's order with two messages, and deliveries out of that order.
func placed(all []segment) (out []Violation) {
	type place struct {
		view     string
		position uint64
	}
	at := map[place]Message{}
	for _, s := range all {
		latest := uint64(0)
		for _, r := range s.items {
			if !ordered(r) {
				continue
			}
			p := place{r.View, r.Position}
			if m, ok := at[p]; ok && m != *r.ID {
				out = append(out, Violation{"one order in a view", fmt.Sprintf("view %s has %v and %v at position %d", r.View, m, *r.ID, r.Position)})
			}
			at[p] = *r.ID
			if r.Position <= latest || r.View != s.view {
				out = append(out, Violation{"deliveries are in the order of the view",
					fmt.Sprintf("node %d was given position %d of view %s after position %d of %s", s.log.Node, r.Position, r.View, latest, s.view)})
			}
			latest = r.Position
		}
	}
	return out
}

// together finds processes that moved from one view to the next with different messages.
func together(all []segment) (out []Violation) {
	type step struct{ from, to string }
	first := map[step]*segment{}
	for i := range all {
		s := &all[i]
		if s.view == "" || s.next == "" {
			continue
		}
		t := step{s.view, s.next}
		f := first[t]
		if f == nil {
			first[t] = s
			continue
		}
		if why := differ(f.items, s.items); why != "" {
			out = append(out, Violation{"members that move together are given the same",
				fmt.Sprintf("nodes %d and %d, from view %s to view %s: %s", f.log.Node, s.log.Node, s.view, s.next, why)})
		}
	}
	return out
}

// differ says how two sequences of deliveries differ, or returns "".
func differ(a, b []*Record) string {
	x, y := sequence(a), sequence(b)
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x) || i >= len(y):
			return fmt.Sprintf("%d and %d ordered messages", len(x), len(y))
		case *x[i].ID != *y[i].ID || x[i].Weakened != y[i].Weakened:
			return fmt.Sprintf("%v (transitional %v) and %v (%v) at the same place", *x[i].ID, x[i].Weakened, *y[i].ID, y[i].Weakened)
		}
	}
	one, other := unordered(a), unordered(b)
	if !slices.Equal(one, other) {
		return fmt.Sprintf("%d and %d unordered messages, which are not the same", len(one), len(other))
	}
	return ""
}

func sequence(items []*Record) (out []*Record) {
	for _, r := range items {
		if r.Order == Total || r.Order == Timed {
			out = append(out, r)
		}
	}
	return out
}

func unordered(items []*Record) (out []string) {
	for _, r := range items {
		if r.Order != Total && r.Order != Timed {
			out = append(out, fmt.Sprint(*r.ID))
		}
	}
	slices.Sort(out)
	return out
}

// strict finds processes that left a view without a message that was delivered as strict in
// it.
func strict(all []segment) (out []Violation) {
	owed := map[string]map[Message]int{}
	for _, s := range all {
		for _, r := range s.items {
			if r.Strict && !r.Weakened {
				if owed[s.view] == nil {
					owed[s.view] = map[Message]int{}
				}
				owed[s.view][*r.ID] = s.log.Node
			}
		}
	}
	for _, s := range all {
		if s.view == "" || s.next == "" {
			continue
		}
		got := map[Message]bool{}
		for _, r := range s.items {
			got[*r.ID] = true
		}
		for _, m := range slices.SortedFunc(maps.Keys(owed[s.view]), Message.compare) {
			if node := owed[s.view][m]; !got[m] {
				out = append(out, Violation{"no member leaves a view without a strict message of it",
					fmt.Sprintf("node %d left view %s without %v, which node %d was given", s.log.Node, s.view, m, node)})
			}
		}
	}
	return out
}
