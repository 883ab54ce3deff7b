package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/peers"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/timed"
)

// A peer that has left for good is forgotten, listed or not, and neither late packets nor
// introductions bring it back. Another incarnation does.
func forgetsGone(t testing.TB) {
	l, o := newOutside(nil, peers.Peer{ID: 7, Addr: at(70).String()})
	d := l.driver
	o.takes(t, l, nil, at(70), 1, nothing)
	require.Equal(t, timed.SetOf(7), d.routes.known)
	d.routes.gone[7], d.routes.alive = 77, timed.SetOf(7) // whose silence was just noticed
	o.takes(t, l, nil, at(70), 2, nothing)
	require.Equal(t, timed.Set{}, d.routes.known)
	o.takes(t, l, nil, at(70), 3, nothing)
	require.Equal(t, timed.Set{}, d.routes.known, "a late packet")
	sent := o.bytes[at(70)]
	d.in.packet = wire.Packet{Frames: wire.FrameMembers, Members: []wire.Member{{Node: 7, Addr: at(70)}}}
	d.takeMembers(at(80))
	o.run(l, 10*time.Second)
	require.Equal(t, sent, o.bytes[at(70)], "nothing goes there")
	require.Zero(t, d.count.unresolved, "nor would, if its address were known: the layers have forgotten it too")
	d.routes.gone[7] = 76
	o.takes(t, l, nil, at(70), 4, nothing)
	require.Equal(t, timed.SetOf(7), d.routes.known, "it has come back")
	require.Zero(t, d.routes.gone[7])
	require.Equal(t, at(70), d.routes.to[7].Listed, "and is listed as before")
	require.True(t, d.routes.silent(timed.Instant(time.Hour), time.Minute).Empty(), "so that its silence does not make it forgotten")
}

func TestPeersThatHaveLeftForGoodAreForgotten(t *testing.T) { forgetsGone(t) }
