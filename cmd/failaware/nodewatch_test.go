package main

import (
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// The log names what lasted: a peer that is silent or deaf, a loop that stood, and a process that
// did not run. It is silent about what passes, and says each thing once.
func TestTheLogNamesWhatLasts(t *testing.T) {
	var log strings.Builder
	r := &nodeRun{log: hclog.New(&hclog.LoggerOptions{Output: &log})}
	var w peerWatch
	at := time.Unix(0, 0)
	look := func(s failaware.Status) string {
		log.Reset()
		at = at.Add(patience)
		w.look(r, &s, at)
		return log.String()
	}
	of := func(p failaware.PeerStatus) failaware.Status {
		p.ID, p.Listed = 2, "host:7001"
		return failaware.Status{Timing: failaware.LAN(), Peers: []failaware.PeerStatus{p, {Addr: p.Addr}}}
	}
	alive, unheard := of(failaware.PeerStatus{Alive: true}), of(failaware.PeerStatus{LastFast: -1})
	silent, deaf := of(failaware.PeerStatus{LastFast: 7 * time.Second}), of(failaware.PeerStatus{LastFast: time.Millisecond, Deaf: true})
	for range 3 {
		require.Empty(t, look(unheard), "warnOf says it")
	}
	require.Empty(t, look(alive))
	require.Empty(t, look(silent))
	require.Empty(t, look(alive), "it has passed")
	require.Empty(t, look(deaf))
	require.Contains(t, look(deaf), `[WARN]  a peer is not alive any more: peer=2 address=host:7001 why="it is heard, and does not say that it hears this node`)
	require.Empty(t, look(deaf), "once")
	require.Contains(t, look(alive), "[INFO]  a peer is alive again: peer=2 after=10s")
	require.Empty(t, look(silent)+look(silent)+look(silent), "it was named within the minute")
	for range 8 {
		look(silent)
	}
	require.Contains(t, look(alive), "alive again", "it was named after the minute")

	require.Contains(t, look(failaware.Status{Age: -1}), "[ERROR] the loop takes no turns: it waits for a disk or a processor")
	require.Empty(t, look(failaware.Status{Age: -1}))
	require.Contains(t, look(alive), "[WARN]  the loop takes turns again: after=10s")
	require.Empty(t, look(failaware.Status{Age: -1, Stopped: true}))

	w.slept(r, patience+time.Second/2, patience)
	require.Empty(t, log.String())
	w.slept(r, patience+9*time.Second, patience)
	require.Contains(t, log.String(), "[WARN]  this process did not run: it was stopped, or its machine slept or was too busy: for=9s")
}
