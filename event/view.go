package event

import (
	"fmt"
	"strings"

	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// ViewInstalled says that there is an agreed group, which this node is a member of.
type ViewInstalled struct {
	Header
	View *membership.View `api:"view+members"`
	// Previous is the view that this node comes from; none at first.
	Previous membership.ViewID `api:"previous_view"`
	// Transitional are the members that came along from Previous.
	Transitional timed.Set `api:"transitional"`
	// Merged are the branches that meet in the view, each with its members, so that an
	// application knows what to reconcile.
	Merged []membership.Branch `api:"merged"`
}

// Kind returns "view-installed".
func (ViewInstalled) Kind() string { return "view-installed" }

func (e ViewInstalled) String() string {
	if e.View == nil {
		return "no view"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "view %v: members %v", e.View.ID, e.View.Set)
	if left := e.View.Set.Minus(e.Transitional); !e.Previous.None() && !left.Empty() {
		fmt.Fprintf(&b, ", of which %v are new to this node", left)
	}
	if len(e.Merged) > 1 {
		b.WriteString("; branches:")
		for _, m := range e.Merged {
			fmt.Fprintf(&b, " %v from %v", m.Members, m.From)
		}
	}
	return b.String()
}

// ViewFresh says that the view is up to date again, until another event says otherwise or
// its lease ends.
type ViewFresh struct {
	Header
	View membership.ViewID `api:"view"`
}

// Kind returns "view-fresh".
func (ViewFresh) Kind() string { return "view-fresh" }

func (e ViewFresh) String() string { return fmt.Sprintf("view %v is up to date", e.View) }

// ViewStale says that the view is not up to date any more.
type ViewStale struct {
	Header
	View   membership.ViewID `api:"view"`
	Reason membership.Reason `api:"reason"`
	By     timed.NodeID      `api:"by"` // whose message or silence caused it, if anyone's
}

// Kind returns "view-stale".
func (ViewStale) Kind() string { return "view-stale" }

func (e ViewStale) String() string {
	return fmt.Sprintf("view %v is not up to date any more: %v%s", e.View, e.Reason, e.by(e.By))
}
