package oracle

import "fmt"

// stamped finds timed messages that a process was not given in the order of their stamps, and
// messages with different stamps at two processes of one view.
func stamped(all []segment) (out []Violation) {
	type place struct {
		view    string
		message Message
	}
	stamps := map[place]int64{}
	for _, s := range all {
		var before *Record
		for _, r := range s.items {
			if r.Order != Timed || r.Weakened {
				continue
			}
			at := place{r.View, *r.ID}
			if known, ok := stamps[at]; ok && known != r.Time {
				out = append(out, Violation{"a message has one stamp in a view", fmt.Sprintf("node %d was given %v of %d, and it is of %d elsewhere", s.log.Node, *r.ID, r.Time, known)})
			}
			stamps[at] = r.Time
			if before != nil && (r.Time < before.Time || r.Time == before.Time && r.ID.Sender < before.ID.Sender) {
				out = append(out, Violation{"timed messages are in the order of their stamps",
					fmt.Sprintf("node %d was given %v of %d in view %s after %v of %d", s.log.Node, *r.ID, r.Time, s.view, *before.ID, before.Time)})
			}
			before = r
		}
	}
	return out
}
