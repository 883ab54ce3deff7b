package failaware

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
)

// A second process with a configured id whose only known node is its twin gives way, although
// no peer hears both; whichever has the larger boot id.
func TestASecondProcessThatKnowsOnlyItsTwinGivesWay(t *testing.T) {
	one := startNode(t, Config{ID: 1, Timing: WAN()})
	two := startNode(t, Config{ID: 2, Timing: WAN(), Peers: []Peer{{1, one.Addr().String()}}})
	eventually(t, "a view", func() bool { return inOneView(one, two) })
	for i := range 2 {
		cfg := Config{ID: 1, Timing: WAN(), Peers: []Peer{{NoNode, one.Addr().String()}}}
		if i%2 == 1 {
			cfg = Config{ID: 1, Timing: WAN(), Join: []string{one.Addr().String()}}
		}
		twin := startNode(t, cfg)
		<-twin.Done()
		e, ok := errors.AsType[*DuplicateIDError](twin.Err())
		require.True(t, ok, twin.Err())
		require.Equal(t, one.Addr(), e.Addr)
		for e := range one.EventsSince(t.Context(), 0) {
			if d, ok := e.(event.PeerDuplicated); ok && d.Peer == 1 && d.Addr == twin.Addr().String() {
				break
			}
		}
	}
	select {
	case <-one.Done():
		require.NoError(t, one.Err(), "it has ended")
	default:
	}
}
