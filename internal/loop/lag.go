package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

const (
	// lagEvery is the shortest time between two looks at what the broadcast waits for. A look
	// costs no turn of its own: with the broadcast a turn is due each keepalive period.
	lagEvery = time.Second
	// lagAfter is how long nothing has changed when a member is named, and warnAfter when the log
	// names it.
	lagAfter, warnAfter = 2 * time.Second, 5 * time.Second
	// lagPeriod is the shortest time between two warnings of members that lag.
	lagPeriod = time.Minute
)

// Lag is a member that the broadcast waits for.
type Lag struct {
	Member timed.NodeID
	Self   bool          // it is this node
	For    time.Duration // nothing has changed for so long
	// Missing says that messages of Member do not come to this node. Otherwise it acknowledges
	// nothing, or orders no message of this node.
	Missing bool

	since timed.Instant
}

// Lags are the members that the broadcast waits for: those whose messages are missing first, and
// then in the order of ids.
type Lags []Lag

// at returns the lags at an instant.
func (l Lags) at(now timed.Instant) Lags {
	l = slices.Clone(l)
	for i := range l {
		l[i].For = max(now.Sub(l[i].since), 0)
	}
	return l
}

// Longest returns how long the broadcast has waited; 0 if it does not.
func (l Lags) Longest() (d time.Duration) {
	for i := range l {
		d = max(d, l[i].For)
	}
	return d
}

// String names the members, and the likely causes, for people.
func (l Lags) String() string { return l.Text("MaxPacket") }

// Text is String with another name of the setting MaxPacket.
func (l Lags) Text(maxPacket string) string {
	var missing, late Lags
	for _, x := range l {
		switch {
		case x.Missing:
			missing = append(missing, x)
		case !x.Self || len(missing) == 0: // otherwise it acknowledges nothing because of them
			late = append(late, x)
		}
	}
	text := ""
	if len(missing) > 0 {
		text = fmt.Sprintf("messages of %s, which have not come to this node for %s: large packets are lost on the way", missing.nodes(), missing.age())
	}
	if len(missing) > 0 && len(late) > 0 {
		text += "; and for "
	}
	switch {
	case len(late) == 1 && late[0].Self:
		return fmt.Sprintf("this node itself, without an acknowledgement for %s: its application or disk is slow", late.age())
	case len(late) > 0:
		text += fmt.Sprintf("%s, without an acknowledgement for %s: an application or disk is slow there, or large packets are lost between there and this node or another", late.nodes(), late.age())
	case text == "":
		return ""
	}
	return text + fmt.Sprintf(", as where %s is not less than the MTU by 28 bytes, by 48 with IPv6", maxPacket)
}

func (l Lags) age() time.Duration { return l.Longest().Round(time.Second) }

// nodes names the members.
func (l Lags) nodes() string {
	var set timed.Set
	for i := range l {
		set.Add(l[i].Member)
	}
	if len(l) == 1 {
		return "node " + l[0].Member.String()
	}
	return "nodes " + set.String()
}

// lag is how long the order of the broadcast has waited for the same.
type lag struct {
	look   timed.Instant // when the next one is due
	view   membership.ViewID
	waits  []broadcast.Wait // of the latest look; the next one takes its memory
	since  map[broadcast.Wait]timed.Instant
	warned timed.Instant
}

// note takes what the order waits for at now, and returns what has not changed for a while.
func (l *lag) note(now timed.Instant, self timed.NodeID, view membership.ViewID, waits []broadcast.Wait) (all Lags) {
	if l.view != view {
		l.view, l.since = view, nil
	}
	since := make(map[broadcast.Wait]timed.Instant, len(waits))
	var missing, late [timed.MaxNodes + 1]timed.Instant
	for _, w := range waits {
		at := now
		if before, same := l.since[w]; same {
			at = before
		}
		since[w] = at
		of := &late[w.Member]
		if w.Kind == broadcast.WaitMessages {
			of = &missing[w.Member]
		}
		if now.Sub(at) >= lagAfter && (*of == 0 || at < *of) {
			*of = at
		}
	}
	l.since = since
	for _, kind := range []*[timed.MaxNodes + 1]timed.Instant{&missing, &late} {
		for id, at := range kind {
			if at != 0 {
				all = append(all, Lag{Member: timed.NodeID(id), Self: timed.NodeID(id) == self, Missing: kind == &missing, since: at})
			}
		}
	}
	return all
}

// warns reports whether the log should name what lags at now.
func (l *lag) warns(now timed.Instant, all Lags) bool {
	if all.Longest() < warnAfter || l.warned != 0 && now.Sub(l.warned) < lagPeriod {
		return false
	}
	l.warned = now
	return true
}

// lookAtLag looks now and then at what the order of the broadcast waits for. Leaders and views
// need small packets only, so nothing else shows that large ones do not reach a member.
func (d *driver) lookAtLag() {
	now := d.clock.now
	if d.msgs == nil || now < d.lag.look {
		return
	}
	d.lag.look = now.Add(lagEvery)
	var all Lags
	if d.stack == nil {
		d.lag = lag{look: d.lag.look, warned: d.lag.warned}
	} else if s := d.stack.BroadcastState(); s.View() != nil {
		d.lag.waits = s.Waits(d.lag.waits[:0])
		all = d.lag.note(now, d.cfg.Self.Node, s.View().ID, d.lag.waits)
	}
	d.l.lags.Store(&all) // readers have it from here on
	if seen := all.at(now); d.lag.warns(now, seen) {
		d.l.cfg.Sink.Warn("the broadcast waits for "+seen.String(), "maxpacket", d.l.cfg.MaxPacket)
	}
}
