package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// OutageOptions are the choices of [Outage].
type OutageOptions struct {
	Setup
	Nodes     int
	Size      int // of messages, in bytes
	Atomicity failaware.Atomicity
	For       time.Duration // of each outage
}

// Check returns an error if the choices make no sense.
func (o *OutageOptions) Check() error {
	return errors.Join(least("nodes", o.Nodes, 3), within("size", o.Size, floodHead, 1<<20), within("for", o.For, time.Millisecond, time.Hour))
}

// OutageResult is the result of [Outage].
type OutageResult struct {
	Head
	Nodes     int           `json:"nodes"`
	Size      int           `json:"size"`
	Atomicity string        `json:"atomicity"`
	Before    float64       `json:"messages_per_second_before"` // at the slowest member
	Outages   []OutageOf    `json:"outages"`
	Faults    []string      `json:"faults"` // contradictions between members, and lost messages
	Compared  uint64        `json:"messages_compared"`
	Elsewhere uint64        `json:"messages_ordered_elsewhere"` // left out, as their senders know
	Resident  float64       `json:"resident_mib"`               // the largest of a node
	Window    float64       `json:"window_mib"`
	For       time.Duration `json:"outage_ns"`
}

// OutageOf is the result of one outage.
type OutageOf struct {
	Name string `json:"name"`
	// Pause is the longest time in which the application of a survivor got nothing,
	// and Bound the bound of the settings.
	Pause time.Duration `json:"pause_ns"`
	Bound time.Duration `json:"bound_ns"`
	// Messages per second at the slowest survivor while it lasted.
	Messages float64 `json:"messages_per_second"`
	// Whole is the time from its end until the group was whole again.
	Whole time.Duration `json:"whole_ns"`
}

// outage is an outage of some nodes of a group under load.
type outage struct {
	name      string
	survivors timed.Set
	bound     time.Duration
	begin     func() error
	end       func() error
}

// Outage floods a group and meanwhile stops, kills, cuts off and slows down some of its
// nodes. It measures the delay of the others, and compares the deliveries of all
// applications.
func Outage(ctx context.Context, opt OutageOptions) (*OutageResult, error) {
	ctx, cancel := opt.bounded(ctx)
	defer cancel()
	bounds, err := opt.Timing.Validate()
	if err != nil {
		return nil, err
	}
	head := opt.head(OutageKind)
	g, err := opt.startGroup(ctx, opt.Nodes, func(g *group) {
		g.cast, g.flood = &castSetup{Packet: loopbackPacket()}, &floodSetup{Size: opt.Size, Atomicity: opt.Atomicity}
	})
	if err != nil {
		return nil, err
	}
	defer g.stop()
	if err := g.untilWhole(ctx); err != nil {
		return nil, err
	}
	m := &outageMeter{group: g, opt: &opt, bounds: bounds, result: &OutageResult{Head: head,
		Nodes: opt.Nodes, Size: opt.Size, Atomicity: opt.Atomicity.String(), For: opt.For,
		Window: float64(broadcast.Config{}.WithDefaults().Window) / (1 << 20)}}
	return m.result, m.run(ctx)
}

// outageMeter runs the outages one after the other.
type outageMeter struct {
	*group
	opt    *OutageOptions
	bounds timed.Bounds
	result *OutageResult
	// elsewhere holds the messages that another branch has ordered, as reported to
	// their senders.
	elsewhere []castSkip
}

func (m *outageMeter) run(ctx context.Context) error {
	m.tell(m.all, command{Do: doFlood})
	warm, _, err := m.measure(ctx, m.all, m.opt.For)
	if err != nil {
		return err
	}
	m.result.Before = warm
	for _, kind := range []func() (*outage, error){m.stops(m.follower, "a follower"), m.stops(m.leaderNow, "the leader"), m.kills(m.follower, "a follower"),
		m.kills(m.leaderNow, "the leader"), m.cutOff, m.slowConsumer} {
		if err := m.untilWhole(ctx); err != nil {
			return err
		}
		o, err := kind()
		if err != nil {
			return err
		}
		m.opt.progress("%s", o.name)
		if err := m.suffer(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	m.tell(m.all, command{Do: doStill})
	if err := m.untilWhole(ctx); err != nil {
		return err
	}
	time.Sleep(castDrain)
	histories, err := m.histories(m.all)
	if err != nil {
		return err
	}
	m.compare(histories)
	m.aims()
	return nil
}

// suffer causes an outage and measures it.
func (m *outageMeter) suffer(ctx context.Context, o *outage) error {
	if _, err := m.histories(m.all); err != nil { // earlier pauses do not count
		return err
	}
	if err := o.begin(); err != nil {
		return err
	}
	rate, pause, err := m.measure(ctx, o.survivors, m.opt.For)
	if err != nil {
		return err
	}
	lifted := m.clock.Now()
	if err := o.end(); err != nil {
		return err
	}
	if err := m.wait(ctx, splitWait, m.whole); err != nil {
		return fmt.Errorf("%w: one leader and one fresh view of all; %s", err, m.describe())
	}
	m.result.Outages = append(m.result.Outages, OutageOf{Name: o.name, Pause: pause, Bound: o.bound, Messages: rate,
		Whole: m.clock.Now().Sub(lifted)})
	return nil
}

// measure returns the messages per second at the slowest of some nodes over some
// time, and the longest pause of any.
func (m *outageMeter) measure(ctx context.Context, ids timed.Set, d time.Duration) (rate float64, pause time.Duration, err error) {
	before, err := m.histories(ids)
	if err != nil {
		return 0, 0, err
	}
	start := m.clock.Now()
	if err := sleep(ctx, d); err != nil {
		return 0, 0, err
	}
	after, err := m.histories(ids)
	if err != nil {
		return 0, 0, err
	}
	took := m.clock.Now().Sub(start).Seconds()
	rate = math.Inf(1)
	for id := range ids.All() {
		rate = min(rate, float64(after[id].Messages-before[id].Messages)/took)
		pause = max(pause, after[id].longest(start))
	}
	return rate, pause, nil
}

// histories asks nodes for their histories and their memory.
func (m *outageMeter) histories(ids timed.Set) (map[timed.NodeID]*history, error) {
	answers, err := m.askAll(ids, func(timed.NodeID) command { return command{Do: doHistory} })
	if err != nil {
		return nil, err
	}
	all := map[timed.NodeID]*history{}
	for id, r := range answers {
		all[id] = r.History
		m.elsewhere = append(m.elsewhere, r.History.Elsewhere...)
		m.result.Resident = max(m.result.Resident, float64(r.Usage.Resident)/(1<<20))
	}
	return all, nil
}

// compare compares the histories.
func (m *outageMeter) compare(all map[timed.NodeID]*history) {
	for id := range m.all.All() {
		a := all[id]
		m.result.Compared += a.Messages
		if a.Twice > 0 {
			m.result.Faults = append(m.result.Faults, fmt.Sprintf("node %v: %d messages twice", id, a.Twice))
		}
		for _, s := range a.Skips {
			if covers(m.elsewhere, s) {
				m.result.Elsewhere += s.Messages
				continue
			}
			m.result.Faults = append(m.result.Faults, fmt.Sprintf("node %v: %d messages of node %v lost, before %d, in view %v",
				id, s.Messages, s.Sender, s.To+1, s.View))
		}
		for other := range m.all.All() {
			if other <= id {
				continue
			}
			if why := agrees(a, all[other], id, other); why != "" {
				m.result.Faults = append(m.result.Faults, fmt.Sprintf("nodes %v and %v: %s", id, other, why))
			}
		}
	}
}

// follower returns a node that does not lead, and leaderNow the leader.
func (m *outageMeter) follower() (timed.NodeID, error) {
	l, err := m.leaderNow()
	return pick(m.all.Without(l)), err
}

func (m *outageMeter) leaderNow() (timed.NodeID, error) {
	if l, ok := m.leader(); ok {
		return l, nil
	}
	return timed.NoNode, errors.New("bench: the group is not whole")
}

// stops returns an outage in which a chosen node is stopped and continued.
func (m *outageMeter) stops(choose func() (timed.NodeID, error), who string) func() (*outage, error) {
	return func() (*outage, error) {
		id, err := choose()
		if err != nil {
			return nil, err
		}
		process := m.members[id].child.cmd.Process
		return &outage{name: who + " is stopped", survivors: m.all.Without(id), bound: m.bounds.View,
			begin: func() error { return freeze(process) }, end: func() error { return thaw(process) }}, nil
	}
}

// kills returns an outage in which a chosen node is killed and starts again.
func (m *outageMeter) kills(choose func() (timed.NodeID, error), who string) func() (*outage, error) {
	return func() (*outage, error) {
		id, err := choose()
		return &outage{name: who + " is killed", survivors: m.all.Without(id), bound: m.bounds.View,
			begin: func() error { m.crash(id); return nil },
			end: func() error {
				err := m.restart(id)
				m.tell(timed.SetOf(id), command{Do: doFlood})
				return err
			}}, err
	}
}

// cutOff cuts the group in two halves, both of which must continue.
func (m *outageMeter) cutOff() (*outage, error) {
	halves := m.halves()
	return &outage{name: "the group is cut in two", survivors: m.all, bound: m.bounds.View,
		begin: func() error { _, _, err := m.cut(halves); return err }, end: m.heal}, nil
}

// slowConsumer makes the application of one node take too long for its deliveries.
func (m *outageMeter) slowConsumer() (*outage, error) {
	id, err := m.follower()
	const perBatch = 500 * time.Millisecond
	slow := func(d time.Duration) func() error {
		return func() error {
			m.tell(timed.SetOf(id), command{Do: doSlow, Micros: int(d.Microseconds())})
			return nil
		}
	}
	tolerance := 2 * broadcast.Config{}.WithDefaults().SlowAfter
	return &outage{name: "an application is slow", survivors: m.all.Without(id), bound: tolerance + m.bounds.View,
		begin: slow(perBatch), end: slow(0)}, err
}

func (m *outageMeter) aims() {
	r := m.result
	for _, o := range r.Outages {
		r.Aims = append(r.Aims, aimMillis(o.Name+": pause of the others", o.Pause, o.Bound))
	}
	r.Aims = append(r.Aims, aim("messages lost, twice, or in another order", float64(len(r.Faults)), 0, "faults"))
}

// Text implements [Result].
func (r *OutageResult) Text(w io.Writer) error {
	rows := [][]string{{"", "longest pause", "bound", "messages/s meanwhile", "whole again after"}}
	for _, o := range r.Outages {
		rows = append(rows, []string{o.Name, show(o.Pause), show(o.Bound), fmt.Sprintf("%.0f", o.Messages), show(o.Whole)})
	}
	more := []string{fmt.Sprintf("%d deliveries compared: %d faults; %d left out, with their senders told that another branch had ordered them; resident memory at most %.0f MiB",
		r.Compared, len(r.Faults), r.Elsewhere, r.Resident)}
	for _, f := range r.Faults {
		more = append(more, "FAULT: "+f)
	}
	return r.text(w, fmt.Sprintf("%d nodes, a process each, timing %s; all send %d bytes, Total, %s, as many as the window of %g MiB takes: %.0f messages/s; each outage lasts %v",
		r.Nodes, r.Preset, r.Size, r.Atomicity, r.Window, r.Before, r.For), rows, more...)
}
