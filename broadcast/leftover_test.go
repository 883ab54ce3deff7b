package broadcast

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/leftover"
	"github.com/failaware/failaware/timed"
)

// stays names the fields of a Service that do not belong to the view.
var stays = []string{
	"cfg", "streams", "marks", "arena", "own", "shown", "joined", "lent", "audit", "Dropped",
	"sent",             // rebase sets it
	"committed",        // Install does
	"log",              // it is cleared, and keeps its memory
	"slow",             // the application is as slow as before; see slowInTheNextView
	"since",            // counts behind a decision of the view only, which sets it
	"ahead", "answers", // leave with the turn
	"scratch", "requests", // memory
	"deliveries", "kept", "packets", "packetsOut", // of the turn
}

// beginsAnew reports whether nothing of a view is left when the next begins.
func beginsAnew(t testing.TB) bool {
	cfg := Config{Self: incarnation(0), Timing: timed.LAN()}
	s, fresh := New(cfg), New(cfg)
	leftover.Fill(s, stays...)
	v := viewOf(2, 0, 1, 2)
	s.beginView(v)
	fresh.beginView(v)
	fresh.deferred.heap = []deferredMessage{}
	left := leftover.Differ(s, fresh, stays...)
	t.Logf("left over: %v", left)
	return left == nil
}

func TestAViewBeginsAnew(t *testing.T) { require.True(t, beginsAnew(t)) }
