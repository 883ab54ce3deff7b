package demo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// controls applies keys to the world.
type controls struct {
	world *World
	face  Face
	quit  bool
}

// Keys without a character.
const (
	keyEscape = 27
	keyCtrlC  = 3
)

// press performs the action of a key, and shows a hint.
func (k *controls) press(key rune) {
	k.face.Hint = ""
	if k.face.Help && key != 'q' && key != keyCtrlC {
		k.face.Help = false
		if key == '?' || key == keyEscape || key == ' ' {
			return
		}
	}
	switch key {
	case 'q', 'Q', keyCtrlC:
		k.quit = true
	case '?':
		k.face.Help = true
	case '0', keyEscape:
		k.face.Selected = nil
	case 'h', 'H':
		k.world.Heal()
		k.note("all links are mended")
	case 'x', 'X':
		k.split()
	case 'r', 'R':
		k.resign()
	case 'p', 'P':
		k.each(k.pause)
	case 'k', 'K':
		k.each(k.crash)
	case 'c', 'C':
		k.cut(key == 'C')
	case 's', 'S':
		k.slow(key == 'S')
	default:
		if key >= '1' && key <= '9' {
			k.choose(failaware.NodeID(key - '0'))
		} else {
			k.face.Hint = "? explains the keys"
		}
	}
}

func (k *controls) note(format string, args ...any) {
	k.face.Hint = fmt.Sprintf(format, args...)
	k.world.Note(format, args...)
}

// choose selects or deselects a node.
func (k *controls) choose(id failaware.NodeID) {
	if !k.world.All().Has(id) {
		k.face.Hint = fmt.Sprintf("there is no node %v", id)
		return
	}
	if i := slices.Index(k.face.Selected, id); i >= 0 {
		k.face.Selected = slices.Delete(k.face.Selected, i, i+1)
		return
	}
	k.face.Selected = append(k.face.Selected, id)
	k.face.Hint = "c cut, s slow, p pause, k crash"
	if len(k.face.Selected) == 1 {
		k.face.Hint += "; select another one for the link between them"
	}
}

// each calls f for each selected node.
func (k *controls) each(f func(failaware.NodeID)) {
	if len(k.face.Selected) == 0 {
		k.face.Hint = fmt.Sprintf("select nodes first, with the keys 1 to %d", len(k.world.members))
	}
	for _, id := range k.face.Selected {
		f(id)
	}
}

func (k *controls) pause(id failaware.NodeID) {
	switch {
	case k.world.Resume(id):
		k.note("node %v is resumed", id)
	case k.world.Pause(id):
		k.note("node %v is paused, as by SIGSTOP", id)
	default:
		k.face.Hint = fmt.Sprintf("node %v does not run: k restarts it", id)
	}
}

func (k *controls) crash(id failaware.NodeID) {
	if n := k.world.Node(id); n != nil && n.Err() == nil {
		k.world.Crash(id)
		k.note("node %v is crashed, as by SIGKILL", id)
		return
	}
	k.world.Crash(id) // it may have stopped by itself
	if err := k.world.Start(id); err != nil {
		k.note("node %v cannot start: %v", id, err)
		return
	}
	k.note("node %v is started", id)
}

// resign asks the selected leaders to resign, or all leaders.
func (k *controls) resign() {
	chosen := timed.SetOf(k.face.Selected...)
	if chosen.Empty() {
		chosen = k.world.All()
	}
	var done []string
	for id := range chosen.All() {
		if n := k.world.Node(id); n == nil || !n.Leads() {
			continue
		}
		if err := k.world.Resign(id); err != nil {
			k.note("node %v does not resign: %v", id, err)
			continue
		}
		done = append(done, id.String())
	}
	if len(done) == 0 {
		k.face.Hint = "none of these nodes leads"
		return
	}
	k.note("asked to resign: node %s", strings.Join(done, " and node "))
}

// split cuts the selected nodes, or else one half of all, off from the others, or joins
// them again.
func (k *controls) split() {
	some := timed.SetOf(k.face.Selected...)
	others := k.world.All().Minus(some)
	if some.Empty() || others.Empty() {
		some = failaware.Set{}
		for id := 1; id <= len(k.world.members)/2; id++ {
			some.Add(failaware.NodeID(id))
		}
		others = k.world.All().Minus(some)
	}
	pairs := across(some, others)
	cut := !k.world.allCut(pairs)
	k.world.Cut(cut, pairs...)
	if cut {
		k.note("the network is split into %v and %v", some, others)
	} else {
		k.note("%v and %v are joined again", some, others)
	}
}

// links returns the selected directions: those among the selected nodes, or all of a
// single one. One way means from the first node.
func (k *controls) links(oneWay bool) (pairs []Pair, name string) {
	chosen := k.face.Selected
	arrow := "↔"
	if oneWay {
		arrow = "→"
	}
	switch len(chosen) {
	case 0:
		return nil, ""
	case 1:
		id := chosen[0]
		for other := range k.world.All().Without(id).All() {
			pairs = append(pairs, Pair{id, other})
			if !oneWay {
				pairs = append(pairs, Pair{other, id})
			}
		}
		return pairs, fmt.Sprintf("%v %s all others", id, arrow)
	}
	var names []string
	for i, a := range chosen {
		names = append(names, a.String())
		for _, b := range chosen[i+1:] {
			if pairs = append(pairs, Pair{a, b}); !oneWay {
				pairs = append(pairs, Pair{b, a})
			}
		}
	}
	return pairs, strings.Join(names, " "+arrow+" ")
}

func (k *controls) cut(oneWay bool) {
	pairs, name := k.links(oneWay)
	if len(pairs) == 0 {
		k.each(nil)
		return
	}
	cut := !k.world.allCut(pairs)
	k.world.Cut(cut, pairs...)
	k.note("%s: %s", name, map[bool]string{true: "cut", false: "mended"}[cut])
}

func (k *controls) slow(oneWay bool) {
	pairs, name := k.links(oneWay)
	if len(pairs) == 0 {
		k.each(nil)
		return
	}
	slow := !k.world.allSlow(pairs)
	k.world.Slow(slow, pairs...)
	if slow {
		k.note("%s: slowed down by %v", name, k.world.slowness(true))
	} else {
		k.note("%s: fast again", name)
	}
}

func (w *World) allCut(pairs []Pair) bool {
	return !slices.ContainsFunc(pairs, func(p Pair) bool { return !w.relay.Link(p.From, p.To).Cut })
}

func (w *World) allSlow(pairs []Pair) bool {
	return !slices.ContainsFunc(pairs, func(p Pair) bool { return w.relay.Link(p.From, p.To).Delay == 0 })
}
