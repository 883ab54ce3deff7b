package failaware

import (
	"encoding"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/loop"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/timed"
)

// id is the method set of an id and of a pointer to it.
type id[T any] interface {
	*T
	encoding.TextUnmarshaler
}

// roundTrip holds the text of an id against the id, as text, in JSON, and as a key.
func roundTrip[T interface {
	comparable
	fmt.Stringer
	encoding.TextMarshaler
}, P id[T]](t *rapid.T, x T) {
	text, err := x.MarshalText()
	require.NoError(t, err)
	require.Equal(t, x.String(), string(text))
	var back T
	require.NoError(t, P(&back).UnmarshalText(text))
	require.Equal(t, x, back)

	b, err := json.Marshal(map[T]T{x: x})
	require.NoError(t, err)
	var read map[T]T
	require.NoError(t, json.Unmarshal(b, &read))
	require.Equal(t, map[T]T{x: x}, read)

	// Text that is not quite that is refused, or is the text of the id that it gives.
	bad := append([]byte{}, text...)
	bad[rapid.IntRange(0, len(bad)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
	bad = bad[:rapid.IntRange(0, len(bad)).Draw(t, "length")]
	var other T
	if P(&other).UnmarshalText(bad) == nil {
		again, err := other.MarshalText()
		require.NoError(t, err)
		var third T
		require.NoError(t, P(&third).UnmarshalText(again))
		require.Equal(t, other, third)
	} else {
		require.Zero(t, other, "a refused text changes nothing")
	}
}

var (
	drawNode = rapid.Custom(func(t *rapid.T) NodeID { return NodeID(rapid.Uint8().Draw(t, "node")) })
	drawBoot = rapid.Custom(func(t *rapid.T) BootID { return BootID(rapid.Uint64().Draw(t, "boot")) })
	drawSet  = rapid.Custom(func(t *rapid.T) Set {
		return timed.SetOf(rapid.SliceOf(drawNode).Draw(t, "ids")...)
	})
	drawIncarnation = rapid.Custom(func(t *rapid.T) Incarnation {
		return Incarnation{Node: drawNode.Draw(t, "node"), Boot: drawBoot.Draw(t, "boot")}
	})
	drawView = rapid.Custom(func(t *rapid.T) ViewID {
		return ViewID{Sequence: rapid.Uint64().Draw(t, "sequence"), Leader: drawNode.Draw(t, "leader"), Boot: drawBoot.Draw(t, "boot")}
	})
)

func TestIDsRoundTripAsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := drawView.Draw(t, "view")
		roundTrip(t, drawNode.Draw(t, "node"))
		roundTrip(t, drawBoot.Draw(t, "boot"))
		roundTrip(t, drawSet.Draw(t, "set"))
		roundTrip(t, drawIncarnation.Draw(t, "incarnation"))
		roundTrip(t, view)
		roundTrip(t, membership.Member{Incarnation: drawIncarnation.Draw(t, "member"), Previous: view})
		roundTrip(t, TimelineID{Leader: view.Leader, Boot: view.Boot, Sequence: view.Sequence})
		roundTrip(t, MessageID{Sender: view.Leader, Boot: view.Boot, Sequence: view.Sequence,
			Class: rapid.SampledFrom([]broadcast.Class{broadcast.ClassOrdered, broadcast.ClassUnordered}).Draw(t, "class")})
	})
	rapid.Check(t, func(t *rapid.T) { // ids of nothing
		roundTrip(t, NoNode)
		roundTrip(t, BootID(0))
		roundTrip(t, Set{})
		roundTrip(t, Incarnation{})
		roundTrip(t, ViewID{})
		roundTrip(t, membership.Member{})
		roundTrip(t, TimelineID{})
		roundTrip(t, MessageID{})
	})
}

func TestIDsAsText(t *testing.T) {
	const boot = 0x00c0ffee00c0ffee
	one := Incarnation{Node: 3, Boot: boot}
	view := ViewID{Sequence: 7, Leader: 3, Boot: boot}
	for want, x := range map[string]fmt.Stringer{
		"3/00c0ffee00c0ffee":                           one,
		"7@3/00c0ffee00c0ffee":                         view,
		"3/00c0ffee00c0ffee from 7@3/00c0ffee00c0ffee": membership.Member{Incarnation: one, Previous: view},
		"3/00c0ffee00c0ffee/2":                         TimelineID{Leader: 3, Boot: boot, Sequence: 2},
		"3/00c0ffee00c0ffee/o12":                       MessageID{Sender: 3, Boot: boot, Class: broadcast.ClassOrdered, Sequence: 12},
		"{1 2 7}":                                      timed.SetOf(7, 1, 2),
		"never":                                        timed.Never,
		"7@3/00c0ffee00c0ffee of {3}":                  &View{ID: view, Set: timed.SetOf(3)},
		"{3} from 7@3/00c0ffee00c0ffee":                Branch{From: view, Members: timed.SetOf(3)},
	} {
		require.Equal(t, want, x.String())
	}
}

// A peer that is heard and hears nothing is told from one that is silent.
func TestADeafPeerIsNotCalledSilent(t *testing.T) {
	n := &Node{cfg: Config{Timing: LAN()}}
	for want, p := range map[string]loop.PeerStatus{
		"unknown node at a:1: heard in time, and does not hear this node": {Listed: "a:1", LastFast: 20 * time.Millisecond},
		"unknown node at a:1: silent for 60ms":                            {Listed: "a:1", LastFast: 60 * time.Millisecond},
		"unknown node at a:1: not heard in time yet":                      {Listed: "a:1", LastFast: -1},
		"unknown node at a:1: alive, delay at most 1ms":                   {Listed: "a:1", LastFast: 0, Alive: true, Delay: time.Millisecond},
	} {
		require.Equal(t, want, n.peerStatus(&p).String())
	}
}

// All that a person may print has a text, and its zero value has one as well, in which
// no number stands for a bound that is not known.
func TestEverythingPrints(t *testing.T) {
	for _, x := range []fmt.Stringer{LeaderAnswer{}, ViewAnswer{}, EpochAnswer{}, Reading{}, GroupTime(0), Hold{}, Verification{}, Refusal{},
		Status{}, PeerStatus{}, PeerStatus{ID: 1, Alive: true, Delay: event.UnknownDelay}, Counter{}, Lateness{}, Durations{}, ReferenceStatus{},
		Outcome{}, Delivery{}, TransitionBegins{}, ViewChange{}, OutcomeLost{}, NewIncarnation{}, Branch{}, &View{},
		Reading{Deviation: clocksync.UnknownBound, UTCBound: clocksync.UnknownBound},
		Order(9), Atomicity(9), Mode(9), RankBy(9), Timing{}, LAN(), Bounds{}} {
		text := x.String()
		require.NotEmpty(t, text, "%T", x)
		require.NotContains(t, text, "2562047h", "%T", x)
		require.NotContains(t, text, "%!", "%T", x)
	}
	for i := range eventTable {
		e := reflect.Zero(eventTable[i].typ).Interface().(event.Event)
		require.NotEmpty(t, e.String(), "%T", e)
	}
}

// No method of a zero value panics.
func TestZeroValuesDoNotPanic(t *testing.T) {
	for _, v := range []*View{nil, {}} {
		_, ok := v.Member(1)
		require.False(t, ok || v.Has(Incarnation{Node: 1, Boot: 1}))
		require.Zero(t, v.Transitional(ViewID{Sequence: 1}))
		require.Empty(t, v.Merged())
		require.Equal(t, "no view", v.String())
	}
	require.Zero(t, Hold{}.ValidFor()+Verification{}.ValidFor()+Verification{}.GlobalValidFor())
	require.False(t, Incarnation{}.Valid() || NoNode.Valid())
	require.True(t, ViewID{}.None() && TimelineID{}.None() && Set{}.Empty())
}

// Whoever has to find the other process with the id of this one is told where it is.
func TestTheErrorOfADuplicateIDNamesItsAddress(t *testing.T) {
	e := &DuplicateIDError{ID: 3, Boot: 1, Rival: 2}
	require.Contains(t, e.Error(), "in use by another process: its boot id is ")
	e.Addr = netip.MustParseAddrPort("192.0.2.1:7001")
	require.Contains(t, e.Error(), "in use by another process, at 192.0.2.1:7001: its boot id is ")
}
