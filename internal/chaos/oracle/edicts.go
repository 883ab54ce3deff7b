package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// edicts finds edicts and timestamps that do not show in which order they were made. Each
// one is compared with the latest ones of all nodes that were surely made before it.
func (h *History) edicts(group string) (out []Violation) {
	type made struct {
		node int
		r    *Record
	}
	var all []made
	for l, r := range h.records(group, Edict) {
		all = append(all, made{l.Node, r})
	}
	slices.SortStableFunc(all, func(a, b made) int { return cmp.Compare(a.r.From, b.r.From) })
	latest := map[int][]*Record{} // the last two of each node: one may end after the next begins
	for _, m := range all {
		for _, node := range slices.Sorted(maps.Keys(latest)) {
			for _, before := range latest[node] {
				if before.To >= m.r.From {
					continue
				}
				if order, why := before.compare(m.r); order >= 0 {
					out = append(out, Violation{"edicts and timestamps show their order", fmt.Sprintf(
						"group %s: %s of node %d at %d, and later %s of node %d at %d: %s", group, before.Text, node, before.To, m.r.Text, m.node, m.r.From, why)})
				}
			}
		}
		list := append(latest[m.node], m.r)
		latest[m.node] = list[max(0, len(list)-2):]
	}
	return out
}

// compare returns -1 if an edict shows that it is earlier than another, and 1 if it
// shows that it is later. Otherwise it returns 0 and the reason.
func (r *Record) compare(o *Record) (order int, why string) {
	if r.Epoch != o.Epoch {
		return cmp.Compare(r.Epoch, o.Epoch), "epochs that run backwards"
	}
	common, same := 0, 0
	for _, a := range r.Stamps {
		for _, b := range o.Stamps {
			if a.Node != b.Node {
				continue
			}
			common++
			var c int
			switch {
			case a.Incarnation != b.Incarnation:
				c = cmp.Compare(a.Incarnation, b.Incarnation)
			case a.Boot != b.Boot:
				return 0, fmt.Sprintf("two boot ids of incarnation %d of node %d", a.Incarnation, a.Node)
			default:
				c = cmp.Compare(a.At, b.At)
			}
			switch {
			case c == 0:
				same++
			case order == -c:
				return 0, "their voters contradict each other"
			default:
				order = c
			}
		}
	}
	switch {
	case common == 0:
		return 0, "no node voted for both"
	case order == 0 && same == len(r.Stamps) && same == len(o.Stamps):
		return cmp.Compare(r.Number, o.Number), "counters that do not grow"
	case same > 0:
		return 0, "a vote is in two rounds"
	}
	return order, "votes that run backwards"
}

// fence finds edicts that a fence obeyed after a later one, and edicts that it refused although
// they were the latest.
func (h *History) fence(group string) (out []Violation) {
	made := map[string]*Record{}
	for _, r := range h.records(group, Edict) {
		made[r.Text] = r
	}
	var begun, ended int64 // the latest beginning and end of the making of an obeyed edict
	for _, o := range h.records(group, Obeyed) {
		e := made[o.Text]
		switch {
		case e == nil:
			out = append(out, Violation{"a fence is asked with edicts that were made", fmt.Sprintf("group %s: nobody made %s", group, o.Text)})
		case o.Outcome != Done && e.From > ended:
			out = append(out, Violation{"a fence obeys the latest edict", fmt.Sprintf("group %s: %s, made after %d, was refused: %s", group, o.Text, e.From, o.Key)})
		case o.Outcome == Done && e.To < begun:
			out = append(out, Violation{"a fence obeys no edict after a later one", fmt.Sprintf("group %s: %s, made before %d, was obeyed after one that was made after %d", group, o.Text, e.To, begun)})
		case o.Outcome == Done:
			begun, ended = max(begun, e.From), max(ended, e.To)
		}
	}
	return out
}
