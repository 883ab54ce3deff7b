package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/replicate"
)

var errNoClock = errors.New("the clock of this node is not synchronized, which a lease needs")

const noRoom = "this node waits for room to keep its state: "

// roomText returns why the disk has no room, or "".
func roomText(full error) string {
	if full == nil {
		return ""
	}
	text, _, _ := strings.Cut(full.Error(), "\n") // further lines have the same cause
	return strings.TrimPrefix(text, "replicate: Spool: ")
}

// hindrance returns what holds the store up at its disks, or "": no room at this node, or
// the disks of other members.
func hindrance(full error, unstored failaware.Set) string {
	switch {
	case full != nil:
		return noRoom + roomText(full)
	case !unstored.Empty():
		return fmt.Sprintf("it waits for the disks of nodes %v: 'failaware kv status' there says why", unstored)
	}
	return ""
}

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
	if why := hindrance(p.Full, p.Unstored); why != "" {
		all = append(all, why)
	}
	if p.Situation == replicate.NoQuorum { // lost since the command was taken
		all = append(all, s.noQuorum(s.node.View().View))
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
	case errors.Is(err, failaware.ErrClosed):
		return &unavailable{"the node has stopped", err}
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
		text = fmt.Sprintf("not all nodes of %v have reported their state; all must run with --kv", view.Set)
	case replicate.Mixed:
		text = fmt.Sprintf("some of nodes %v have --kv-dir, and others have not, as their logs name: set it at all nodes, or at none", view.Set)
	case replicate.Changing:
		text = fmt.Sprintf("the quorum system changes, and not all of nodes %v are in the next epoch; if that lasts, they were started with different ones", view.Set)
	case replicate.Recovering:
		text = fmt.Sprintf("too few of nodes %v remember the state, and nodes %v may know more: start them, or, if they are lost for good, see 'failaware kv bootstrap --help'", view.Set, refused.Absent)
	case replicate.Working:
		text = "the view changes or too much waits"
		if why := hindrance(refused.Full, s.replica.Progress().Unstored); why != "" {
			text = why
		}
	}
	if refused.Situation != replicate.Working && refused.Full != nil {
		text += "; " + noRoom + roomText(refused.Full)
	}
	if refused.Err != nil {
		text += " (" + refused.Err.Error() + ")"
	}
	return &unavailable{text, err}
}
