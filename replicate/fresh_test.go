package replicate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/membership"
)

func staleSaysSo(t testing.TB) {
	id := membership.ViewID{Sequence: 3, Leader: 1, Boot: 1}
	at := func() Progress { return Progress{Situation: Working, View: id} }
	view := func() failaware.ViewAnswer {
		return failaware.ViewAnswer{View: &failaware.View{ID: id}, UpToDate: true, AtMost: time.Second}
	}
	f := freshness(at(), at(), view())
	require.True(t, f.UpToDate)
	require.Equal(t, time.Second, f.AtMost)
	for name, spoil := range map[string]func(before, after *Progress, v *failaware.ViewAnswer){
		"the view is not up to date":       func(_, _ *Progress, v *failaware.ViewAnswer) { v.UpToDate = false },
		"the state was of an earlier view": func(before, _ *Progress, _ *failaware.ViewAnswer) { before.View.Sequence-- },
		"the state is of an earlier view":  func(before, after *Progress, _ *failaware.ViewAnswer) { before.View.Sequence--; after.View.Sequence-- },
		"the state is of a later view":     func(_, after *Progress, _ *failaware.ViewAnswer) { after.View.Sequence++ },
		"the node had not the state":       func(before, _ *Progress, _ *failaware.ViewAnswer) { before.Situation = Transferring },
		"the node has not the state":       func(_, after *Progress, _ *failaware.ViewAnswer) { after.Situation = Merging },
		"the node came into another view":  func(_, _ *Progress, v *failaware.ViewAnswer) { v.View = &failaware.View{} },
	} {
		before, after, v := at(), at(), view()
		spoil(&before, &after, &v)
		f := freshness(before, after, v)
		require.False(t, f.UpToDate, name)
		require.Zero(t, f.AtMost, name)
		require.Equal(t, after.Situation, f.Situation)
	}
}

func leasedInOneView(t testing.TB) {
	id := membership.ViewID{Sequence: 3, Leader: 1, Boot: 1}
	v := failaware.ViewAnswer{View: &failaware.View{ID: id}, UpToDate: true}
	_, ok := leased(id, v)
	require.True(t, ok)
	v.View.ID.Sequence++
	_, ok = leased(id, v)
	require.False(t, ok, "others may have answered in the next view")
	v.View.ID, v.UpToDate = id, false
	_, ok = leased(id, v)
	require.False(t, ok)
}

func TestALeasedReadIsOfOneView(t *testing.T) { leasedInOneView(t) }

// A read says that it is up to date only if its state was that of one view throughout, and
// that view still is.
func TestAStaleReadSaysSo(t *testing.T) { staleSaysSo(t) }
