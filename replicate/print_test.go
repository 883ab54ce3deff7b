package replicate

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

func TestAnswersArePrinted(t *testing.T) {
	require.Equal(t, "no view yet; no view", Freshness{}.String())
	view := &failaware.View{ID: failaware.ViewID{Sequence: 3, Leader: 1, Boot: 10}, Set: timed.SetOf(1, 2)}
	fresh := Freshness{View: view, UpToDate: true, AtMost: 57 * time.Millisecond, Situation: Working}
	require.Equal(t, "view 3@1/000000000000000a of {1 2}, up to date for at most 57ms; at work", fresh.String())
	fresh.UpToDate, fresh.Situation, fresh.Behind = false, Transferring, 4
	require.Regexp(t, `^view 3@1/000000000000000a of {1 2}, not up to date; .*; 4 calls of the application wait$`, fmt.Sprint(fresh))

	require.Equal(t, "no operation", Applied{}.String())
	id := failaware.MessageID{Sender: 1, Boot: 10, Sequence: 7}
	require.Regexp(t, "^operation 1/000000000000000a/.*7 applied, lasting, with result 5$", Applied{ID: id, Result: 5, Lasting: true}.String())
	require.Regexp(t, "7 applied by an earlier attempt, with result <nil>$", Applied{ID: id, Repeated: true}.String())
	require.Regexp(t, "7 applied as transitional, with result <nil>$", Applied{ID: id, Transitional: true}.String())
}
