package main

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/api"
)

// A peer is called silent only if nothing came from it.
func TestWhyAPeerIsNotAlive(t *testing.T) {
	s := failaware.Status{Timing: failaware.LAN()}
	differ := event.Differences{{Setting: "Broadcast", Here: "on", There: "off"}}
	for want, p := range map[string]failaware.PeerStatus{
		"no such host": {Problem: "no such host"},
		"it is ignored: --broadcast is on here and off there": {Mismatch: differ, Refused: "they have other settings"},
		"its packets come, and do not count: they are odd":    {Refused: "they are odd"},
		"its last packet in time came 1s ago":                 {LastFast: time.Second},
		"it is heard, and does not say that it hears this node: perhaps no packets get through to 192.0.2.7:7001": {
			Addr: netip.MustParseAddrPort("192.0.2.7:7001"), LastFast: time.Millisecond, Deaf: true},
	} {
		p.Delay = event.UnknownDelay
		if p.LastFast == 0 {
			p.LastFast = -1
		}
		require.Equal(t, want, whySilent(&p, &s))
	}
	silent := failaware.PeerStatus{Delay: event.UnknownDelay, LastFast: -1}
	require.Contains(t, whySilent(&silent, &s), "it is silent")
}

func TestADeafPeerIsNotCalledSilent(t *testing.T) {
	ago := int64(20 * time.Millisecond)
	require.Equal(t, "silent 20ms", delayText(&api.MemberInfo{LastFastNS: &ago}, &api.Members{}))
	require.Equal(t, "deaf", delayText(&api.MemberInfo{LastFastNS: &ago, Deaf: true}, &api.Members{}))
}
