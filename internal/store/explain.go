package store

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
)

var errNoClock = errors.New("the clock of this node is not synchronized, which a lease needs")

const ownDisk = "this node waits for its disk: "

// roomText returns why the disk has no room, or "".
func roomText(full error) string {
	if full == nil {
		return ""
	}
	text, _, _ := strings.Cut(full.Error(), "\n") // further lines have the same cause
	return strings.TrimPrefix(text, "replicate: Spool: ")
}

// ownText returns why the disk of this node holds the store up, or "". A node that waits for
// the state of others cannot have written it yet.
func ownText(p *replicate.Progress, self failaware.NodeID) string {
	switch {
	case p.Full != nil:
		return roomText(p.Full)
	case p.Unstored.Has(self) && p.Situation == replicate.Working:
		return "it has not taken what was written " + p.UnstoredFor.Round(time.Second).String() + " ago"
	}
	return ""
}

// othersOf returns the other members whose disks hold the store up.
func othersOf(p *replicate.Progress, self failaware.NodeID) failaware.Set {
	others := p.Unstored
	others.Remove(self)
	return others
}

// hindrance returns what holds the store up at its disks, or "": that of this node, or those
// of other members.
func hindrance(p *replicate.Progress, self failaware.NodeID) string {
	if why := ownText(p, self); why != "" {
		return ownDisk + why
	}
	if others := othersOf(p, self); !others.Empty() {
		return fmt.Sprintf("it waits for the disks of nodes %v: 'failaware kv status' there says why", others)
	}
	return ""
}

// heldAfter is how long the broadcast has waited with no progress when the store counts as held
// up: no command has an outcome until all members of the view have it.
const heldAfter = 5 * time.Second

// stale says what a node waits for whose view has run out. A loop that takes turns begins another
// view then, with which the replica accepts or not.
const stale = "a view that is up to date; if that lasts, the loop of this node takes no turns: it waits for a disk or a processor"

// lags is what commands wait for that the replica takes, besides disks. The replica knows what
// the loop said last, and the view by the clock.
type lags struct {
	members failaware.Lags
	stale   bool
}

func (s *Store) lags() lags { return lags{s.node.Lagging(), !s.node.View().UpToDate} }

// holdUp reports whether commands have no outcome soon.
func (l lags) holdUp() bool { return l.stale || l.members.Longest() >= heldAfter }

// lagText says which members the order of the commands waits for, or is "".
func lagText(lags failaware.Lags) string { return lags.Text("--max-packet") }

// unavailable is an error of the replica in the words of the store.
type unavailable struct {
	text string
	err  error
}

func (e *unavailable) Error() string { return e.text }

func (e *unavailable) Unwrap() error { return e.err }

// noQuorum says what a view lacks.
func (s *Store) noQuorum(view *failaware.View) string {
	return fmt.Sprintf("the view of nodes %v holds no quorum of %v", view.Set, s.node.Epoch().System)
}

// hindrances says what keeps commands that were taken from their outcomes.
func (s *Store) hindrances(p replicate.Progress) (all []string) {
	if why := hindrance(&p, s.node.ID()); why != "" {
		all = append(all, why)
	}
	if why := silent(&p); why != "" {
		all = append(all, why)
	}
	if p.Situation == replicate.NoQuorum { // lost since the command was taken
		all = append(all, s.noQuorum(s.node.View().View))
	}
	if why := lagText(s.node.Lagging()); why != "" {
		all = append(all, "it waits for "+why)
	}
	return all
}

// explain says why a node cannot answer.
func (s *Store) explain(err error) error {
	for known, e := range sessionErrors {
		if errors.Is(err, known) {
			return e
		}
	}
	refused, ok := errors.AsType[*replicate.NotAcceptingError](err)
	view := s.node.View().View
	switch {
	case errors.Is(err, failaware.ErrOutcomeUnknown):
		text := "the outcome is unknown, the command may be carried out or not: " + strings.TrimPrefix(err.Error(), "failaware: ")
		for _, why := range s.hindrances(s.replica.Progress()) {
			text += "; " + why
		}
		return &unavailable{text, err}
	case errors.Is(err, failaware.ErrTooLarge):
		return &unavailable{"the command is larger than --broadcast-max-payload allows", err}
	case errors.Is(err, failaware.ErrClosed):
		return &unavailable{"the node has stopped", err}
	case errors.Is(err, replicate.ErrStateReplaced):
		return &unavailable{"the state was replaced by that of other nodes while it was read: try again", err}
	case !ok:
		return err
	}
	text := "this node cannot answer: " + refused.Situation.String()
	switch refused.Situation {
	case replicate.NoView:
		text = "this node is in no view yet"
	case replicate.NoQuorum:
		text = s.noQuorum(view)
	case replicate.Reporting:
		p := s.replica.Progress()
		text = cmp.Or(silent(&p), fmt.Sprintf("not all nodes of %v have reported their state; all must run with --kv", view.Set))
	case replicate.Mixed:
		text = fmt.Sprintf("some of nodes %v have --kv-dir, and others have not, as their logs name: set it at all nodes, or at none", view.Set)
	case replicate.Changing:
		text = fmt.Sprintf("the quorum system changes, and not all of nodes %v are in the next epoch; if that lasts, they were started with different ones", view.Set)
	case replicate.Recovering:
		text = fmt.Sprintf("too few of nodes %v remember the state, and nodes %v may know more: start them, and if no node has a state, a new one begins then; only if they are lost for good, see 'failaware kv bootstrap --help'", view.Set, refused.Absent)
	case replicate.Working:
		p := s.replica.Progress()
		p.Full = refused.Full
		text = cmp.Or(hindrance(&p, s.node.ID()), "the view changes or too much waits")
		if why := lagText(s.node.Lagging()); why != "" {
			text += "; it waits for " + why
		}
	}
	if refused.Situation != replicate.Working && refused.Full != nil {
		text += "; " + ownDisk + roomText(refused.Full)
	}
	if refused.Err != nil {
		text += " (" + refused.Err.Error() + ")"
	}
	return &unavailable{text, err}
}
