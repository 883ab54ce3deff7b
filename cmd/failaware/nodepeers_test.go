package main

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/timed"
)

// A peer is called silent only if nothing came from it.
func TestWhyAPeerIsNotAlive(t *testing.T) {
	s := failaware.Status{Timing: failaware.LAN()}
	differ := event.Differences{{Setting: "Broadcast", Here: "on", There: "off"}}
	for want, p := range map[string]failaware.PeerStatus{
		"no such host": {Problem: "no such host"},
		"it is ignored: --broadcast, which --kv turns on too, is on here and off there": {Mismatch: differ, Refused: "they have other settings"},
		"it is ignored: --broadcast-require-quorum, which --kv=linearizable turns on too, is on here and off there": {
			Mismatch: event.Differences{{Setting: "Broadcast.RequireQuorum", Here: "on", There: "off"}}},
		"its packets come, and do not count: they are odd":                                  {Refused: "they are odd"},
		"its packets come, and do not count: no key: --key-file has [a] here and [b] there": {Refused: "no key: KeyFile has [a] here and [b] there"},
		"cannot send to 192.0.2.1:1":                                                        {Unsent: "cannot send to 192.0.2.1:1", Deaf: true},
		"it takes another process for this node: the former one, which it forgets after its --expires, or one with the same id": {
			LastFast: time.Millisecond, Refuses: true, Deaf: true},
		"its last packet in time came 1s ago": {LastFast: time.Second},
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

	silent.ID, silent.Addr = 2, netip.MustParseAddrPort("192.0.2.7:7001")
	s.Addr = silent.Addr
	require.Equal(t, "it is listed at the address of this node itself", whySilent(&silent, &s))
	silent.Refused = "they are for a node with another id"
	require.Equal(t, "it is listed at the address of this node itself", api.Refusal(&s, &silent))
	s.Addr, silent.Refused = netip.AddrPort{}, ""
	s.Peers = []failaware.PeerStatus{silent, {ID: 3, Addr: silent.Addr, Alive: true}}
	require.Equal(t, "node 3 answers at its address, 192.0.2.7:7001", whySilent(&silent, &s))
}

func TestADeafPeerIsNotCalledSilent(t *testing.T) {
	ago := int64(20 * time.Millisecond)
	require.Equal(t, "silent 20ms", delayText(&api.MemberInfo{LastFastNS: &ago}, &api.Members{}))
	require.Equal(t, "deaf", delayText(&api.MemberInfo{LastFastNS: &ago, Deaf: true}, &api.Members{}))
	require.Equal(t, "refuses", delayText(&api.MemberInfo{LastFastNS: &ago, Deaf: true, Refuses: true}, &api.Members{}))
}

// Packets that do not count are named once for each address and kind of reason, also those of
// strangers, unless the peer is alive.
func TestRefusedPacketsAreLoggedOnce(t *testing.T) {
	var log strings.Builder
	r := &nodeRun{log: hclog.New(&hclog.LoggerOptions{Output: &log})}
	said := map[saying]bool{}
	listed := failaware.PeerStatus{ID: 2, Listed: "host:7001", Refused: "key 1", Ignored: "keys", Incompatible: true, LastFast: -1, Delay: event.UnknownDelay}
	stranger := failaware.PeerStatus{Addr: netip.MustParseAddrPort("192.0.2.8:7001"), Refused: "key 1", Ignored: "keys", Incompatible: true}
	lines := func(warn func(*failaware.Status, map[saying]bool), peers ...failaware.PeerStatus) int {
		log.Reset()
		warn(&failaware.Status{Peers: peers, Alive: timed.SetOf(3)}, said)
		return strings.Count(log.String(), "\n")
	}
	require.Equal(t, 2, lines(r.warnOf, listed, stranger))
	require.Contains(t, log.String(), `packets do not count: address=192.0.2.8:7001 why="key 1"`)
	require.Zero(t, lines(r.warnOfRefused, listed, stranger))
	stranger.Refused, stranger.Ignored, stranger.Incompatible = "they have come before", "does not count", false
	require.Zero(t, lines(r.warnOfRefused, stranger), "not for long")
	stranger.Refused, stranger.Ignored, stranger.Incompatible = "they have version 9", "versions", true
	require.Equal(t, 1, lines(r.warnOfRefused, listed, stranger))
	for i := range 10 {
		stranger.Refused, stranger.Ignored = fmt.Sprintf("key %d", i), "keys"
		listed.Refused = stranger.Refused
		require.Zero(t, lines(r.warnOfRefused, listed, stranger), "whoever sends from there chooses the key")
		stranger.Refused, stranger.Ignored = fmt.Sprintf("they have version %d", i), "versions"
		require.Zero(t, lines(r.warnOfRefused, listed, stranger))
	}
	listed.Alive, listed.Refused = true, "key 2"
	require.Zero(t, lines(r.warnOfRefused, listed, stranger))
	for i := range 2 * mostRefused {
		stranger.Addr = netip.AddrPortFrom(stranger.Addr.Addr(), uint16(i+1))
		lines(r.warnOfRefused, stranger)
	}
	require.Len(t, said, mostRefused)
	listed.Alive = false
	require.Equal(t, 1, lines(r.warnOfRefused, listed), "it was alive meanwhile, and no strangers hide it")
}

// The log names references that give no time, and only those of the node itself.
func TestReferencesWithoutTimeAreWarnedOf(t *testing.T) {
	var log strings.Builder
	r := &nodeRun{log: hclog.New(&hclog.LoggerOptions{Output: &log, DisableTime: true})}
	of := func(name string, samples uint64, reason, failure string) (x failaware.ReferenceStatus) {
		x.Name, x.Samples, x.Reason, x.Error = name, samples, reason, failure
		return x
	}
	r.warnOfReferences([]failaware.ReferenceStatus{of("ntp a", 1, "", "late"), of("ntp b", 0, "", ""), of("ntp c", 0, "its clock is not set", ""), of("ntp d", 0, "", "refused"), of("", 0, "", "")})
	require.Equal(t, `[WARN]  a reference gives no time: reference="ntp b" why="it does not answer"
[WARN]  a reference gives no time: reference="ntp c" why="its clock is not set"
[WARN]  a reference gives no time: reference="ntp d" why=refused
`, log.String())
}

// A node that nobody answers says why that may be.
func TestANodeThatNobodyAnswersSaysWhy(t *testing.T) {
	j := api.Join{Source: "a:1", Addresses: []string{"192.0.2.1:1"}}
	s := api.Status{Alive: []int{2}}
	text := func() string { return joinText(&j, whyAlone(&s, &j)) }
	require.Equal(t, "a:1: 192.0.2.1:1", text())
	s.Alive = nil
	require.Equal(t, "a:1: 192.0.2.1:1; no member answers: "+noAnswer, text())
	j.Unsent = "cannot send to 192.0.2.1:1"
	require.Equal(t, "a:1: 192.0.2.1:1; no member answers: cannot send to 192.0.2.1:1", text())
	s.Members = []api.MemberInfo{{Address: "192.0.2.2:1", Mismatch: "elsewhere"}, {Address: "192.0.2.1:1", Mismatch: "Group differs"}}
	require.Equal(t, "a:1: 192.0.2.1:1; a node answers, and is ignored, as the next lines say", text())
	j.Problem = "no such host"
	require.Equal(t, "a:1: 192.0.2.1:1; no such host", text())
}

// A node that stops because of its id says what to do.
func TestANodeWithAnIDInUseSaysWhatToDo(t *testing.T) {
	r := &nodeRun{}
	rival := &failaware.DuplicateIDError{ID: 3, Boot: 1, Rival: 2}
	require.ErrorContains(t, r.advise(rival), "the node takes another id")
	r.cfg.ID = 3
	err := r.advise(rival)
	require.ErrorContains(t, err, "; give one of the two another --id")
	require.ErrorIs(t, err, failaware.ErrDuplicateID)
	require.NoError(t, r.advise(nil))
}

// Of a node that answers where members should be, and is ignored, the log says why.
func TestALonelyNodeLogsWhyAnswersAreIgnored(t *testing.T) {
	var log strings.Builder
	r := &nodeRun{log: hclog.New(&hclog.LoggerOptions{Output: &log})}
	at := netip.MustParseAddrPort("192.0.2.1:1")
	s := failaware.Status{Join: []failaware.JoinStatus{{Source: "a:1", Addresses: []netip.AddrPort{at}}}}
	r.warnAlone(&s)
	require.Contains(t, log.String(), noAnswer)
	log.Reset()
	s.Peers = []failaware.PeerStatus{{ID: 2, Addr: at, Mismatch: event.Differences{{Setting: "Group", Here: "a", There: "b"}}}}
	r.warnAlone(&s)
	require.Contains(t, log.String(), "the node at 192.0.2.1:1 answers, and is ignored: --group is a here and b there")
	require.NotContains(t, log.String(), noAnswer)
}

// Who changes a file learns which settings need a restart, of all parts of the program.
func TestChangedSettingsAreNamed(t *testing.T) {
	before := source{"id": {{"1", "--id"}}, "peers": {{"2=a:1", "x"}}, "tags": {{"a=1", "x"}, {"b=2", "x"}}, "log.level": {{"info", "x"}}}
	after := source{"id": {{"1", "node.yaml:1"}}, "peers": {{"3=b:1", "x"}}, "tags": {{"a=1", "x"}, {"b=2", "x"}}, "log.level": {{"info", "x"}}}
	require.Empty(t, changedSettings(before, after), "only the peers have changed")
	after["id"][0].text = "2"
	require.Equal(t, []string{"id"}, changedSettings(before, after))
	after["id"][0].text = "1"
	delete(after, "log.level")
	after["http"], after["tags"] = []raw{{"127.0.0.1:1", "x"}}, []raw{{"a=1", "x"}}
	require.Equal(t, []string{"tags", "http", "log.level"}, changedSettings(before, after))
}

// A listed peer that does not have the key of this node's packets is named, once, although its
// own packets are opened.
func TestAPeerWithoutTheKeyIsLogged(t *testing.T) {
	var log strings.Builder
	r := &nodeRun{log: hclog.New(&hclog.LoggerOptions{Output: &log})}
	s := failaware.Status{Keys: []failaware.KeyID{7, 5}, Peers: []failaware.PeerStatus{
		{ID: 2, Listed: "host:7001", Refused: "unheard", Keys: []failaware.KeyID{5}}}}
	said := map[saying]bool{}
	r.warnOfRefused(&s, said)
	require.Contains(t, log.String(), "it lacks the key "+s.Keys[0].String())
	log.Reset()
	r.warnOfRefused(&s, said)
	require.Empty(t, log.String())
}
