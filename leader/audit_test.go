package leader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

// leadingAlone returns an election that leads nobody else.
func leadingAlone() (*Election, timed.Instant) {
	e, _, now := readyVoter()
	for !e.Leads(now) {
		now = timed.Later(now, deadline(e, timed.Set{}))
		timeout(e, now, timed.Set{})
	}
	return e, now
}

// Each invariant is noticed when it is broken, and none before.
func audits(t testing.TB) {
	max := timed.LAN().MaxLockTime
	for invariant, breakIt := range map[string]func(e *Election, now timed.Instant){
		"before the incarnation may vote": func(e *Election, now timed.Instant) { e.readyAt = now + 1 },
		"longer than MaxLockTime":         func(e *Election, now timed.Instant) { e.lockedUntil = now.Add(max + time.Second) },
		"a vote for two nodes":            func(e *Election, _ timed.Instant) { e.leading, e.lockedTo = false, incarnation(9) },
		"for two nodes": func(e *Election, _ timed.Instant) {
			e.leading = false
			e.lock(incarnation(9), e.lockedUntil, e.lockRequest)
		},
		"becomes shorter":       func(e *Election, _ timed.Instant) { e.leading, e.lockedUntil = false, e.lockedUntil-1 },
		"after the resignation": func(e *Election, _ timed.Instant) { e.resigned = true },
		"without this node's own vote": func(e *Election, now timed.Instant) {
			e.lockedTo, e.lockedUntil = timed.Incarnation{}, 0
			e.freed(now, e.cfg.Self)
		},
		"an answer that outlasts": func(e *Election, now timed.Instant) {
			e.Vouch(now)
			e.Abdicate(now, Outranked, nil)
			e.unlock(now)
		},
		"lead without this node's own vote": func(e *Election, _ timed.Instant) { e.lockedUntil, e.audit.until = e.expiration-1, 0 },
		"outside its support set":           func(e *Election, _ timed.Instant) { e.support = timed.SetOf(2) },
		"outlasts this node's":              func(e *Election, _ timed.Instant) { e.global = &globalLead{until: e.lockedUntil + 1} },
		"without a local one":               func(e *Election, now timed.Instant) { e.leading, e.global = false, &globalLead{until: now + 1} },
		"longer than a vote that it": func(e *Election, _ timed.Instant) {
			e.peers.edit(e.cfg.Self.Node).vote.LockTime -= 2
			e.audit.expiration = 0 // the lease is new
		},
	} {
		e, now := leadingAlone()
		require.Empty(t, e.Audit(now))
		require.Empty(t, e.Audit(now+1))
		breakIt(e, now)
		require.Contains(t, e.Audit(now), invariant)
	}
}

func TestAudits(t *testing.T) { audits(t) }

// A leader may win a round and begin the next one in one turn. If a new peer gives
// shorter votes only, its own vote is then recorded for less than the lease.
func TestAuditOfAShorterRound(t *testing.T) {
	e, now := leadingAlone()
	e.NoteState(start, incarnation(1), &State{MaxLock: timed.LAN().LeastLockTime()})
	e.RequestSoon()
	timeout(e, now+1, timed.SetOf(1))
	require.True(t, e.open && e.lockTime < timed.LAN().LockTime)
	require.Empty(t, e.Audit(now+1), "the lease is new, and the round is open")
}

// Only a global leader may replace the quorum system, which is noticed while it leads locally.
func TestAuditOfALeaderOfAnEpoch(t *testing.T) { auditsEpochs(t) }

func auditsEpochs(t testing.TB) {
	e, alive, now := changing(t)
	for id := range alive.All() {
		supported(e, now, id, alive)
	}
	stamps, ok := e.QuorumStamp(now)
	require.True(t, ok)
	e.cfg.Epochs.HandleWon(now, e.LastRequest(), stamps.Stamps, nil)
	require.Empty(t, e.Audit(now))
	e.global.held = false
	require.Contains(t, e.Audit(now), "without a global lease")
}
