package oracle

import (
	"fmt"
	"time"
)

// Healing is how long a group took to be whole after the end of all faults.
type Healing struct {
	Took, Bound, Late time.Duration
	Text              string // the obstacle, if the group never was whole
}

// judgeHeals checks each healing against its bound. A group that never became whole is a
// violation on any machine.
func (v *Verdict) judgeHeals(h *History, limits *Limits) {
	for _, r := range h.records("", Heal) {
		one := Healing{Took: time.Duration(r.To - r.From), Bound: time.Duration(r.Bound), Late: time.Duration(r.Late), Text: r.Text}
		v.Heals = append(v.Heals, one)
		switch {
		case one.Text != "":
			v.add([]Violation{{"a healed group becomes whole", fmt.Sprintf("not in %v: %s", one.Took, one.Text)}})
		case one.Took <= one.Bound+limits.Slack:
		case one.Late > limits.Lateness:
			v.Excused++
		default:
			v.add([]Violation{{"a healed group is whole in time", fmt.Sprintf("it took %v, the bound is %v, and the machine was at most %v late", one.Took, one.Bound, one.Late)}})
		}
	}
}
