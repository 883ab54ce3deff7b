package failaware_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/event"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/membership"
	"github.com/failaware/failaware/replicate"
)

// inJSON writes values of a type as JSON, and reads them.
func inJSON[V interface {
	comparable
	fmt.Stringer
}](t *testing.T, values ...V) {
	for _, v := range values {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%q", v.String()), string(b))
		var back V
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, v, back)
		before := back
		require.Error(t, json.Unmarshal([]byte(`"nonsense"`), &back))
		require.Equal(t, before, back)
	}
}

// Values of enumerations are words in JSON, and not numbers.
func TestEnumerationsAreWordsInJSON(t *testing.T) {
	inJSON(t, failaware.Available, failaware.Strict)
	inJSON(t, failaware.Stable, failaware.ByID)
	inJSON(t, failaware.TotalOrder, failaware.TimedOrder, failaware.Unordered)
	inJSON(t, failaware.StrongAtomicity, failaware.StrictAtomicity, failaware.WeakAtomicity)
	inJSON(t, clocksync.Unsynchronized, clocksync.Internal, clocksync.External)
	inJSON(t, clocksync.NoLeap, clocksync.LeapInsert, clocksync.LeapDelete)
	inJSON(t, clocksync.UTCUnknown, clocksync.UTCKnown, clocksync.UTCDisputed)
	inJSON(t, clocksync.Unordered, clocksync.Earlier, clocksync.Later)
	inJSON(t, epoch.Idle, epoch.Noted, epoch.Chosen, epoch.Wedged)
	inJSON(t, edict.Incomparable, edict.Before, edict.After, edict.Same)
	inJSON(t, edict.NoReason, edict.NoCommonVoter, edict.UnorderedVotes, edict.Contradiction)
	inJSON(t, edict.Refused, edict.Obey, edict.Repeated)
	inJSON(t, leader.NoReason, leader.Outranked, leader.LeaseExpired, leader.RoundFailed, leader.Resigned, leader.Distrusted, leader.NoQuorum)
	inJSON(t, membership.NoReason, membership.LeaseExpired, membership.Proposed, membership.LeadEnded, membership.LeaderResigned, membership.Distrusted)
	inJSON(t, replicate.NoView, replicate.NoQuorum, replicate.Reporting, replicate.Mixed, replicate.Changing, replicate.Recovering,
		replicate.Merging, replicate.Transferring, replicate.Working)
	inJSON(t, failaware.KeyID(0), failaware.KeyID(0xc0ffee))

	require.Equal(t, "mode 9", failaware.Mode(9).String())
	require.Equal(t, "rank 7", failaware.RankBy(7).String())
}

// Answers, events and configurations can be written as JSON, for people.
func TestValuesInJSON(t *testing.T) {
	q, err := quorum.Parse("majority:1,2,3")
	require.NoError(t, err)
	for want, v := range map[string]any{
		`"Status":"external"`:    clocksync.Reading{Status: clocksync.External},
		`"Situation":"at work"`:  replicate.Progress{Situation: replicate.Working},
		`"Reason":"outranked"`:   event.LeadLost{Reason: leader.Outranked},
		`"Mode":"strict"`:        failaware.Config{ID: 1, Mode: failaware.Strict, OnPublish: func(failaware.Published) {}, Quorum: q},
		`"Quorum":"majority:1,2`: failaware.Config{Quorum: q},
	} {
		b, err := json.Marshal(v)
		require.NoError(t, err)
		require.Contains(t, string(b), want)
	}
}
