package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/udp"
	"github.com/failaware/failaware/timed"
)

// AttackOptions are the choices of [Attack].
type AttackOptions struct {
	Setup
	Nodes int
	Count int // hostile packets of each kind
	Rate  int // per second
}

// Check returns an error if the choices make no sense.
func (o *AttackOptions) Check() error {
	return errors.Join(least("nodes", o.Nodes, 2), least("count", o.Count, 1), within("rate", o.Rate, 1, 10_000_000))
}

// AttackResult is the result of [Attack].
type AttackResult struct {
	Head
	Nodes int          `json:"nodes"`
	Rate  int          `json:"rate"`
	Kinds []AttackKind `json:"kinds"`
	Total AttackKind   `json:"total"`
}

// AttackKind is the effect of hostile packets of one kind. Processor times are those of the
// attacked node, less its usage while idle.
type AttackKind struct {
	Name    string  `json:"name"`
	Sent    uint64  `json:"sent"`
	Dropped uint64  `json:"dropped"` // by the node, as counted by it; the kernel drops others
	User    float64 `json:"user_ns"` // for each packet
	Kernel  float64 `json:"kernel_ns"`
	Replies uint64  `json:"replies"`
	Changes int     `json:"changes"` // reports of any node: leader, view, peers
}

// Attack sends hostile packets to a node of a group with keys: to the leader, if the
// attacker can. It is on the path between two nodes, reads their packets, and has no key.
func Attack(ctx context.Context, opt AttackOptions) (*AttackResult, error) {
	ctx, cancel := opt.bounded(ctx)
	defer cancel()
	opt.Keys = true
	r := &AttackResult{Head: opt.head(AttackBench), Nodes: opt.Nodes, Rate: opt.Rate, Total: AttackKind{Name: "all"}}
	var tap tap
	defer tap.close()
	g, err := opt.startGroup(ctx, opt.Nodes, func(g *group) { g.tap = &tap })
	if err != nil {
		return nil, err
	}
	defer g.stop()
	if err := g.untilWhole(ctx); err != nil {
		return nil, err
	}
	target, _ := g.leader()
	if target > 2 {
		target = 1 // the attacker reads the packets of nodes 1 and 2
	}
	a, err := newAttacker(g, target, &tap)
	if err != nil {
		return nil, err
	}
	defer a.conn.Close()
	const alone = 3 * time.Second
	if err := sleep(ctx, time.Second); err != nil {
		return nil, err
	}
	if a.tap.pick(target) == nil {
		return nil, fmt.Errorf("bench: the attacker has read no packet to node %v", target)
	}
	if a.idle, err = a.watch(func() error { return sleep(ctx, alone) }); err != nil {
		return nil, err
	}
	g.forget()
	for _, kind := range hostile {
		k, err := a.attack(ctx, &opt, kind)
		if err != nil {
			return nil, err
		}
		opt.progress("%s: %d packets, %d changes", k.Name, k.Sent, k.Changes)
		r.add(k)
	}
	r.Aims = append(r.Aims, aim("replies", float64(r.Total.Replies), 0, "packets"),
		aim("state changes", float64(r.Total.Changes), 0, "reports"))
	for _, k := range r.Kinds {
		if k.Dropped > 0 && k.Name != "replayed" { // which is authentic
			r.Aims = append(r.Aims, aim("user time, "+k.Name, k.User/1000, 1, "µs"))
		}
	}
	return r, nil
}

func (r *AttackResult) add(k *AttackKind) {
	t := &r.Total
	r.Kinds = append(r.Kinds, *k)
	t.Sent, t.Dropped, t.Replies, t.Changes = t.Sent+k.Sent, t.Dropped+k.Dropped, t.Replies+k.Replies, t.Changes+k.Changes
	if t.Dropped > 0 {
		share := float64(k.Dropped) / float64(t.Dropped)
		t.User, t.Kernel = t.User+(k.User-t.User)*share, t.Kernel+(k.Kernel-t.Kernel)*share
	}
}

// attacker sends hostile packets to a node.
type attacker struct {
	packets
	g      *group
	target timed.NodeID
	clock  *hwclock.Clock
	conn   *udp.Conn
	idle   spent // per second, without hostile packets
	pkts   []udp.Packet
}

// spent is the resource usage of a node during a time.
type spent struct {
	seconds, user, kernel float64
	dropped               uint64
}

func newAttacker(g *group, target timed.NodeID, tap *tap) (*attacker, error) {
	clock, err := hwclock.New()
	if err != nil {
		return nil, err
	}
	conn, err := udp.Listen("127.0.0.1:0", clock, udp.Options{})
	if err != nil {
		return nil, err
	}
	to, err := g.address(target)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	a := &attacker{g: g, target: target, clock: clock, conn: conn, packets: packets{tap: tap, target: target}, pkts: make([]udp.Packet, 64)}
	for i := range a.pkts {
		a.pkts[i].Addr = to
	}
	return a, nil
}

// watch returns the usage of the node while f runs.
func (a *attacker) watch(f func() error) (s spent, err error) {
	usage := func() (*reply, error) { return a.g.members[a.target].child.ask(command{Do: doUsage})() }
	before, err := usage()
	if err != nil {
		return s, err
	}
	if err := f(); err != nil {
		return s, err
	}
	after, err := usage()
	if err != nil {
		return s, err
	}
	x, y := before.Usage, after.Usage
	kernel := float64(y.System - x.System)
	return spent{after.At.Sub(before.At).Seconds(), float64(y.CPU-x.CPU) - kernel, kernel, y.Dropped - x.Dropped}, nil
}

// attack sends the packets of a kind.
func (a *attacker) attack(ctx context.Context, opt *AttackOptions, kind hostileKind) (*AttackKind, error) {
	k := &AttackKind{Name: kind.name}
	s, err := a.watch(func() error {
		begin := time.Now()
		for left := opt.Count; left > 0; {
			n := min(left, len(a.pkts))
			for i := range a.pkts[:n] {
				p := &a.pkts[i]
				p.Buf = kind.make(&a.packets, p.Buf[:0])
				p.N = len(p.Buf)
			}
			sent, err := a.conn.WriteBatch(a.pkts[:n])
			if err != nil {
				return err
			}
			k.Sent, left = k.Sent+uint64(sent), left-n
			due := time.Duration(float64(opt.Count-left) / float64(opt.Rate) * float64(time.Second))
			if err := sleep(ctx, max(0, due-time.Since(begin))); err != nil {
				return err
			}
		}
		return sleep(ctx, 200*time.Millisecond)
	})
	if err != nil {
		return nil, err
	}
	if k.Dropped = s.dropped; k.Dropped > 0 {
		k.User = (s.user - a.idle.user*s.seconds/a.idle.seconds) / float64(k.Dropped)
		k.Kernel = (s.kernel - a.idle.kernel*s.seconds/a.idle.seconds) / float64(k.Dropped)
	}
	k.Replies, k.Changes = a.replies(), a.g.changes()
	a.g.forget()
	return k, nil
}

// replies counts the packets that have come back.
func (a *attacker) replies() (n uint64) {
	in := make([]udp.Packet, 64)
	for {
		got, err := a.conn.ReadBatch(in, a.clock.Now())
		if err != nil || got == 0 {
			return n
		}
		n += uint64(got)
	}
}

// changes counts the reports of all nodes since [group.forget].
func (g *group) changes() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range g.all.All() {
		n += max(len(g.members[id].log)-1, 0)
	}
	return n
}

// Text implements [Result].
func (r *AttackResult) Text(w io.Writer) error {
	rows := [][]string{{"packets", "sent", "dropped", "user ns", "kernel ns", "replies", "changes"}}
	for _, k := range append(r.Kinds, r.Total) {
		rows = append(rows, []string{k.Name, fmt.Sprint(k.Sent), fmt.Sprint(k.Dropped), fmt.Sprintf("%.0f", k.User), fmt.Sprintf("%.0f", k.Kernel),
			fmt.Sprint(k.Replies), fmt.Sprint(k.Changes)})
	}
	return r.text(w, fmt.Sprintf("%d nodes, a process each, timing %s; %d hostile packets a second to one node", r.Nodes, r.Preset, r.Rate), rows)
}
