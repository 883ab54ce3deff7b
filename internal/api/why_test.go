package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/timed"
)

// A peer that lacks the key of this node's packets cannot hear it: who asks why a peer is as it
// is learns that.
func TestWhyNamesTheKeyThatAPeerLacks(t *testing.T) {
	s := failaware.Status{Keys: []failaware.KeyID{7, 5}, Peers: []failaware.PeerStatus{
		{ID: 2, Keys: []failaware.KeyID{5}}, {ID: 3, Keys: []failaware.KeyID{5, 7}}, {ID: 4}}}
	require.Contains(t, peerText(&s, 2), "it lacks the key "+s.Keys[0].String()+" of this node's packets")
	require.NotContains(t, peerText(&s, 3), "key")
	require.NotContains(t, peerText(&s, 4), "key", "nothing is known of its keys")
	require.Equal(t, "node 9: this node has never heard of it", peerText(&s, 9))
	s.Keys = nil
	require.NotContains(t, peerText(&s, 2), "key")
}

// Who asks why the leader is as it is learns who leads globally, or which voters are missing.
func TestWhyNamesTheVotersThatAGlobalLeaderLacks(t *testing.T) {
	const system = "majority:1,2,3"
	nobody := failaware.LeaderAnswer{}
	require.Empty(t, globalText("", nobody, timed.SetOf(1)), "without a quorum system nobody leads globally")
	require.Equal(t, "; it also leads globally", globalText(system, failaware.LeaderAnswer{Leader: 1, Leads: true}, timed.SetOf(1, 2)))
	require.Equal(t, "; node 2 leads globally, as heard", globalText(system, failaware.LeaderAnswer{Leader: 2}, timed.SetOf(1, 2)))
	require.Equal(t, "; nobody is known to lead globally: the voters in touch, {1}, are no quorum of majority:1,2,3",
		globalText(system, nobody, timed.SetOf(1, 4, 5)))
	require.Equal(t, "; nobody is known to lead globally: no voter of majority:1,2,3 is in touch", globalText(system, nobody, timed.SetOf(4)))
	require.Contains(t, globalText(system, nobody, timed.SetOf(1, 2, 4)), "the voters in touch, {1 2}, are a quorum")
}

// The status says it of a peer whose packets do not count, as a node does that was started with
// an old key.
func TestMembersNameTheKeyThatARefusedPeerLacks(t *testing.T) {
	s := failaware.Status{Keys: []failaware.KeyID{7, 5}}
	p := failaware.PeerStatus{ID: 2, Keys: []failaware.KeyID{5}, Refused: "unheard"}
	require.Contains(t, peerOf(&p, &s, failaware.Set{}).Refused, "unheard; as it said last, it lacks the key "+s.Keys[0].String())
	p.Keys = s.Keys
	require.Equal(t, "unheard", peerOf(&p, &s, failaware.Set{}).Refused)
	p.Keys, p.Refused = s.Keys[1:], ""
	require.Empty(t, peerOf(&p, &s, failaware.Set{}).Refused)
}

// The program names flags in the texts about settings; what programs read is as it was.
func TestTextsNameFlags(t *testing.T) {
	n := startNode(t, failaware.Config{ID: 1})
	s := NewServer(n)
	defer s.Close()
	e := event.Mismatch{Peer: 2, Differences: event.Differences{{Setting: "Broadcast", Here: "on", There: "off"}}}
	list := func() []MemberInfo { return []MemberInfo{{Mismatch: "Broadcast is on", Refused: "Broadcast is off"}} }
	a, kept := list(), list()
	s.nameFlags(kept)
	require.Equal(t, list(), kept, "there are no other names")
	s.InFlags = func(text string) string { return strings.ReplaceAll(text, "Broadcast", "--broadcast") }
	s.nameFlags(a)
	require.Equal(t, MemberInfo{Mismatch: "--broadcast is on", Refused: "--broadcast is off"}, a[0])
	w := s.eventOf(e)
	require.Contains(t, w.Text, "is ignored: --broadcast is on here and off there")
	require.Equal(t, "Broadcast is on here and off there", w.Reason)
	x := Why{State: e.String(), Causes: []Cause{{Event: EventOf(e, 1, "run"), Because: []Event{EventOf(e, 1, "run")}}}}
	s.flagsOfWhy(&x)
	for _, text := range []string{x.State, x.Causes[0].Event.Text, x.Causes[0].Because[0].Text} {
		require.Contains(t, text, "--broadcast is on")
	}
}
