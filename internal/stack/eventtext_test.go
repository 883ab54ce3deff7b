package stack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/membership"
)

func TestEveryEventHasAText(t *testing.T) {
	for k := EventReady; k <= EventEpoch; k++ {
		e := Event{Kind: k, View: &membership.View{}, Assurance: &leader.Assurance{}, Change: epoch.Event{Kind: epoch.Proposed}}
		require.NotContains(t, e.String(), "event ", "%d", k)
	}
	require.Equal(t, "event 200", (&Event{Kind: 200}).String())
	require.Equal(t, "leads no more: resigned (by none)", (&Event{Kind: EventLeadLost, Lost: leader.Resigned}).String())
}
