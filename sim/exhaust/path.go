package exhaust

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/failaware/failaware/internal/wire"
)

// Violation is a broken promise and the path to it.
type Violation struct {
	Check  string        `json:"check"` // which promise: "SO", "M4", …
	Node   int           `json:"node"`  // where it showed
	At     time.Duration `json:"at_ns"` // of true time since the path's beginning
	Detail string        `json:"detail"`
	Steps  []string      `json:"steps"` // the path, to be read
	Path   Path          `json:"path"`  // the path, to be replayed
}

func (v *Violation) Error() string {
	return fmt.Sprintf("%s broken at node %d after %v: %s", v.Check, v.Node, v.At, v.Detail)
}

// Path is one sequence of events. It has everything that is needed to repeat it with the
// same version of the program.
type Path struct {
	Options Options  `json:"options"`
	Root    Root     `json:"root"`
	Choices []Choice `json:"choices"`
}

// pathTo returns the path to a state of the tree.
func (s *search) pathTo(index uint32) *Path {
	var numbers []uint32
	for s.tree[index].from != index {
		numbers = append(numbers, s.tree[index].choice)
		index = s.tree[index].from
	}
	slices.Reverse(numbers)
	p := &Path{Options: s.opt, Root: roots(s.opt)[s.tree[index].root]}
	st, _ := newWorld(s.opt, p.Root).start()
	for _, number := range numbers {
		for c, next := range st.world.expand(st).choices() {
			if number == 0 {
				p.Choices = append(p.Choices, Choice{slices.Clone(c.Outcomes), c.Fates})
				st = next
				break
			}
			number--
		}
	}
	return p
}

// Replay goes a path again, and returns the violation that it leads to, or nil,
// and its steps as texts.
func Replay(p Path) (*Violation, []string, error) {
	if err := p.validate(); err != nil {
		return nil, nil, err
	}
	p.Options = p.Options.withDefaults()
	w := newWorld(p.Options, p.Root)
	t := teller{w: w, numbers: map[*message]int{}}
	st, bad := w.start()
	if bad != nil {
		return t.broken(bad, p, 0), t.steps, nil
	}
	t.origin = st.tick
	t.say(st.tick, "%v: %s", p.Root, "all that was before went calmly")
	for i := range p.Choices {
		x := w.expand(st)
		c := &p.Choices[i]
		if err := x.fits(c); err != nil {
			return nil, t.steps, fmt.Errorf("exhaust: choice %d of the path: %w", i+1, err)
		}
		t.happens(x, c)
		if x.bad != nil {
			return t.broken(x.bad, p, st.tick), t.steps, nil
		}
		if st = x.take(c); st == nil {
			return nil, t.steps, fmt.Errorf("exhaust: choice %d of the path: more faults than the options allow", i+1)
		}
	}
	if (st.depth == p.Options.Depth || st.last) && !p.Options.NoSuffix {
		t.say(st.tick, "from here on all is calm")
		if _, _, bad := w.rest(st); bad != nil {
			return t.broken(bad, p, st.tick), t.steps, nil
		}
	}
	return nil, t.steps, nil
}

func (p *Path) validate() error {
	if err := p.Options.Validate(); err != nil {
		return err
	}
	o := p.Options.withDefaults()
	if _, err := ParseStart(string(p.Root.Start)); err != nil {
		return fmt.Errorf("exhaust: root: %w", err)
	}
	if len(p.Root.Rates) != o.Nodes {
		return fmt.Errorf("exhaust: root: %d clock rates for %d nodes", len(p.Root.Rates), o.Nodes)
	}
	fast, slow := extremes(o.Timing)
	for _, r := range p.Root.Rates {
		if r != 0 && r != fast && r != slow {
			return fmt.Errorf("exhaust: root: a clock rate of %d ppb is none of %d, 0, %d", r, slow, fast)
		}
	}
	return nil
}

// fits reports a choice that there is not.
func (x *expansion) fits(c *Choice) error {
	if len(c.Outcomes) != len(x.ids) {
		return fmt.Errorf("%d outcomes, but %d nodes act", len(c.Outcomes), len(x.ids))
	}
	for i, o := range c.Outcomes {
		if o < 0 || o >= len(x.outs[i]) {
			return fmt.Errorf("node %d has no outcome %d", x.ids[i], o)
		}
	}
	for _, l := range c.Fates {
		if k := strings.IndexRune(fateLetters, l); k < 0 || fate(k) == veryLate && !x.w.opt.VeryLate {
			return fmt.Errorf("%q is no fate", l)
		}
	}
	return nil
}

// take returns the state after one choice, or nil.
func (x *expansion) take(c *Choice) *state {
	base, sent := x.apply(c.Outcomes)
	if base == nil || len(c.Fates) > min(len(sent), x.w.opt.Depth-base.depth) {
		return nil
	}
	base.depth += len(c.Fates)
	return x.send(base, sent, fatesOf(c.Fates))
}

// teller puts a path into words.
type teller struct {
	w       *world
	steps   []string
	origin  int64
	numbers map[*message]int // of the messages, in the order of sending
}

func (t *teller) say(tick int64, format string, args ...any) {
	t.steps = append(t.steps, fmt.Sprintf("%-8v %s", t.w.since(tick-t.origin), fmt.Sprintf(format, args...)))
}

// happens adds the text of a choice.
func (t *teller) happens(x *expansion, c *Choice) {
	tick := x.from.tick
	var sent []*message
	for i, id := range x.ids {
		o := &x.outs[i][c.Outcomes[i]]
		switch o.kind {
		case crashes:
			t.say(tick, "node %d crashes and starts again", id)
		case stalls:
			t.say(tick, "node %d stalls for %v", id, t.w.since(t.w.stall))
		}
		for _, m := range o.events {
			if m == nil {
				t.say(tick, "node %d's timer is due", id)
			} else {
				t.say(tick, "node %d takes %s", id, t.name(m))
			}
		}
		if o.kind == resigns {
			t.say(tick, "node %d resigns", id)
		}
		sent = append(sent, o.sent...)
	}
	chosen := fatesOf(c.Fates)
	for i, m := range sent {
		k := inTime
		if i < len(chosen) {
			k = chosen[i]
		}
		t.numbers[m] = len(t.numbers) + 1
		t.say(tick, "%s: %v", t.name(m), k)
	}
}

// name returns a unique name of a message.
func (t *teller) name(m *message) string {
	p := &m.packet
	return fmt.Sprintf("message %d (%d→%d: %s)", t.numbers[m], p.Header.Source, p.Header.Destination, contents(p))
}

var partNames = [...]string{"request", "request, renew", "request, propose", "request, commit"}

// contents describes the contents of a packet.
func contents(p *wire.Packet) string {
	var parts []string
	add := func(f wire.Frames, s string) {
		if p.Has(f) {
			parts = append(parts, s)
		}
	}
	add(wire.FrameInUse, "in use")
	add(wire.FrameRelease, "release")
	add(wire.FrameResign, "resign")
	add(wire.FrameDropped, "dropped")
	add(wire.FrameRequest, partNames[p.Part.Kind])
	if p.Reply.Support {
		add(wire.FrameReply, "vote")
	} else {
		add(wire.FrameReply, "refusal")
	}
	add(wire.FrameLeaving, "leaving")
	if len(parts) == 0 {
		return "keepalive"
	}
	return strings.Join(parts, ", ")
}

// broken makes the violation that a path ends with.
func (t *teller) broken(f *failure, p Path, tick int64) *Violation {
	t.say(tick, "%s broken at node %d: %s", f.check, f.node, f.detail)
	return &Violation{Check: f.check, Node: int(f.node), At: t.w.since(tick - t.origin), Detail: f.detail, Steps: t.steps, Path: p}
}

// tell fills in the texts of a violation's path.
func (v *Violation) tell() {
	if again, _, err := Replay(v.Path); err == nil && again != nil {
		v.At, v.Steps = again.At, again.Steps
	}
}
