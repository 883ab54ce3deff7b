package sim

import (
	"fmt"
	"strings"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
)

// describeCast describes the broadcast part of a packet without its header.
func describeCast(p *broadcast.Packet) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	for i := range p.Runs {
		r := &p.Runs[i]
		add("data %v", spanText(r.Sender, r.Class, r.First, r.First+uint64(r.Count)-1))
	}
	for i := range p.Decisions {
		add("decision %d, next %d", p.Decisions[i].Number, p.Decisions[i].Next)
	}
	for _, w := range p.Wants {
		add("wants %v", spanText(w.Sender, w.Class, w.From, w.To))
	}
	if p.Log.From > 0 {
		add("wants decisions %d-%d", p.Log.From, p.Log.To)
	}
	if p.Report != nil {
		add("report for %s: has %d of %s", p.Report.Proposal.Short(), p.Report.Have, p.Report.Previous.Short())
	}
	if p.Plan != nil {
		add("plan for %s", p.Plan.Proposal.Short())
	}
	if p.Commit != nil {
		add("terms of %s", p.Commit.Proposal.Short())
	}
	if !p.Done.None() {
		add("done for %s", p.Done.Short())
	}
	return strings.Join(parts, ", ")
}

func spanText(sender any, c broadcast.Class, from, to uint64) string {
	class := "u"
	if c == broadcast.ClassOrdered {
		class = "o"
	}
	if from == to {
		return fmt.Sprintf("%v/%s%d", sender, class, from)
	}
	return fmt.Sprintf("%v/%s%d-%d", sender, class, from, to)
}

// traceDelivery writes a line for a delivery.
func (w *World) traceDelivery(n *Node, v *membership.View, d *broadcast.Delivery) {
	how := ""
	if d.Transitional {
		how = ", transitional"
	}
	w.trace(n, "delivers %v (%v %v) at %d of view %v%s", d.ID, d.Order, d.Atomicity, d.Position, v.ID, how)
}
