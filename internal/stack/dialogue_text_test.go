package stack

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// clockText returns the time since the beginning of a dialogue in milliseconds.
func clockText(at timed.Instant) string { return durationText(at.Sub(origin)) }

func durationText(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 2, 64)
}

var bootText = regexp.MustCompile(`/([0-9a-f]{8})[0-9a-f]{8}\b`)

// plain replaces boot ids in the names of views and messages: view 3@1 is of the first
// process of node 1, and view 3@1' of its second one.
func plain(text string) string {
	return bootText.ReplaceAllStringFunc(text, func(s string) string {
		start, _ := strconv.ParseUint(s[1:9], 16, 32)
		return strings.Repeat("'", max(int(start)-1, 0))
	})
}

// processText returns the name of an incarnation.
func processText(i timed.Incarnation) string { return nameOf(i.Node, int(i.Boot>>32)) }

// eventText returns the text of an event. It is empty for events of clocks: dialogues are
// about votes, views and messages, and their clocks all show the same.
func eventText(e *Event) string {
	switch e.Kind {
	case EventClockAdopted, EventClockStepped:
		return ""
	case EventPeerSilent:
		return fmt.Sprintf("no longer hears node %d", e.Peer)
	case EventVerified:
		if e.Assurance.Local == 0 {
			return fmt.Sprintf("node %d does not lead", e.Peer)
		}
		return fmt.Sprintf("node %d leads until %s, globally until %s", e.Peer, clockText(e.Assurance.Local), clockText(e.Assurance.Global))
	}
	return plain(e.String())
}

// packetText returns the text of a packet. It is empty for one that only shows that its
// sender is alive.
func packetText(p *wire.Packet) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, plain(fmt.Sprintf(format, args...))) }
	if p.Has(wire.FrameInUse) {
		add("your id is in use by %s", nameOf(p.Header.Destination, int(p.InUse>>32)))
	}
	if p.Has(wire.FrameResign) {
		add("gives up view %v", p.Resign)
	}
	if p.Has(wire.FrameDropped) {
		add("no longer counts on view %v", p.Dropped)
	}
	if p.Has(wire.FrameRelease) {
		add("frees votes up to %s", clockText(p.Release))
	}
	if p.Has(wire.FrameSuccessor) {
		add("in favour of %v", p.Successor)
	}
	if p.Has(wire.FrameLeaving) {
		add("leaves")
	}
	if p.Has(wire.FrameRequest) {
		add("request %s%s", clockText(p.Request.Number), partText(&p.Part))
	}
	if p.Has(wire.FrameTree) {
		add("reply along a tree of %v, %d below each", p.Request.Tree.Target, p.Request.Tree.Fanout)
	}
	if p.Has(wire.FrameReply) {
		add("%s", replyText(p))
	}
	if p.Has(wire.FrameCollated) {
		add("%s", collatedText(p.Collated))
	}
	if p.Has(wire.FrameQuestion) {
		add("do you lead?")
	}
	if a := &p.Answer; p.Has(wire.FrameAnswer) {
		add("%s", answerText(a))
	}
	if p.Has(wire.FrameEpoch) {
		add("%s", epochText(p.Epoch))
	}
	if p.Has(wire.FrameBroadcast) && !p.Broadcast.Bare() {
		parts = append(parts, broadcastTexts(p.Broadcast)...)
	}
	return strings.Join(parts, "; ")
}

func answerText(a *leader.Answer) string {
	switch {
	case a.Local == 0:
		return "does not lead"
	case a.Global == 0:
		return "leads for " + durationText(a.Local) + " ms more"
	}
	return "leads for " + durationText(a.Local) + " ms more, globally for " + durationText(a.Global) + " ms"
}

// partText returns the text of a request's view part.
func partText(p *membership.Part) string {
	switch p.Kind {
	case membership.Renew:
		return fmt.Sprintf(", renews view %v until %s", p.ID, clockText(p.Until))
	case membership.Propose:
		return fmt.Sprintf(", proposes view %v %v", p.ID, p.View.Set)
	case membership.Commit:
		return fmt.Sprintf(", commits view %v %v until %s", p.ID, p.View.Set, clockText(p.Until))
	}
	return ""
}

func replyText(p *wire.Packet) string {
	r := &p.Reply
	number := clockText(r.Number)
	if r.Support {
		if a := p.Report.Acknowledged; a != p.Report.Installed && !a.None() {
			return fmt.Sprintf("vote for %s, acknowledges view %v", number, a)
		}
		return "vote for " + number
	}
	text := "no vote for " + number
	switch r.LockedTo.Node {
	case timed.NoNode:
	case p.Header.Source:
		text += ", votes for itself"
	default:
		text += ", has voted for " + processText(r.LockedTo)
	}
	if r.Prefers != timed.NoNode {
		text += fmt.Sprintf(", prefers %v", r.Prefers)
	}
	if r.OtherQuorum {
		text += ", votes in another quorum system"
	}
	return text
}

func collatedText(c *wire.Collated) string {
	var voters timed.Set
	for i := range c.Replies {
		voters.Add(c.Replies[i].Voter.Node)
	}
	return fmt.Sprintf("votes of %v for %s of %v", voters, clockText(c.Number), c.Leader.Node)
}

func epochText(s *epoch.State) string {
	text := fmt.Sprintf("epoch %d is ruled by %s", s.Epoch, s.System)
	if s.Phase != epoch.Idle {
		text += fmt.Sprintf(", %v %s", s.Phase, s.Next)
	}
	return text
}

// broadcastTexts returns the texts of a packet's broadcast part, without its header.
func broadcastTexts(p *broadcast.Packet) (parts []string) {
	add := func(format string, args ...any) { parts = append(parts, plain(fmt.Sprintf(format, args...))) }
	for i := range p.Runs {
		r := &p.Runs[i]
		add("message %v %q", broadcast.ID{Sender: r.Sender, Class: r.Class, Boot: r.Boot, Sequence: r.First}, r.Payload)
	}
	for i := range p.Decisions {
		add("decision %d", p.Decisions[i].Number)
	}
	for _, w := range p.Wants {
		add("wants messages %d to %d of %v", w.From, w.To, w.Sender)
	}
	if p.Log.From > 0 {
		add("wants decisions %d to %d", p.Log.From, p.Log.To)
	}
	if p.Report != nil {
		add("holds what %d decisions of view %v order", p.Report.Have, p.Report.Previous)
	}
	if p.Plan != nil {
		add("what must be held before view %v", p.Plan.Proposal)
	}
	if p.Commit != nil {
		add("where the views before view %v end", p.Commit.Proposal)
	}
	if !p.Done.None() {
		add("holds what view %v needs", p.Done)
	}
	return parts
}

func deliveryText(m *broadcast.Delivery) string {
	text := fmt.Sprintf("%v %q, %v, %v", m.ID, m.Payload, m.Order, m.Atomicity)
	if m.Position > 0 {
		text += fmt.Sprintf(", at %d", m.Position)
	}
	if m.Transitional {
		text += ", transitional"
	}
	return plain(text)
}

// stateText returns a node's own answers.
func stateText(now timed.Instant, p *talker) string {
	s := p.stack.Snapshot(now)
	text := "follows no node"
	switch {
	case s.Leading && now < s.Expiration:
		text = fmt.Sprintf("leads %v until %s", s.Support, clockText(s.Expiration))
		if s.Global && now < s.GlobalUntil {
			text += fmt.Sprintf(", globally until %s", clockText(s.GlobalUntil))
		}
	case s.Following.Node != timed.NoNode:
		text = fmt.Sprintf("follows %s until %s", processText(s.Following), clockText(s.LockedUntil))
	}
	if s.View == nil {
		return text + "; no view"
	}
	text += fmt.Sprintf("; view %v %v", s.View.ID, s.View.Set)
	if now < s.ValidUntil {
		text += ", up to date until " + clockText(s.ValidUntil)
	} else {
		text += ", stale"
	}
	return plain(text)
}
