package api

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

func TestEpochAnswers(t *testing.T) {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Listen: "127.0.0.1:0", Quorum: q, StateDir: t.TempDir(), Timing: failaware.LAN()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = n.Close() })
	_, c := serveNode(t, n)
	ctx := t.Context()
	for path, want := range map[string]string{
		"/v1/epoch/change?system=none":                `system: "none" is not like`,
		"/v1/epoch/change?system=majority:1,2&dead=x": "dead: node id",
		"/v1/epoch/change?system=majority:1,2&dead=2": "are not members",
		"/v1/epoch/change?system=majority:1,2&dead=":  "dead: it is empty",
		"/v1/edict?sha256=12":                         "sha256: 64 hexadecimal digits",
	} {
		require.ErrorContains(t, c.Post(ctx, path), want, path)
	}
	digest := edict.Sum([]byte("x"))
	var e Edict
	for end := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if e, err = c.Edict(ctx, hex.EncodeToString(digest[:])); err == nil {
			break
		}
		require.Less(t, time.Now(), end)
	}
	made, err := edict.Parse(e.Edict)
	require.NoError(t, err)
	require.Equal(t, digest, made.Digest)
	require.Equal(t, uint64(1), e.Epoch)
	for end := time.Now().Add(time.Minute); c.Post(ctx, "/v1/epoch/change?system=weighted:1=1") != nil; time.Sleep(2 * time.Millisecond) {
		require.Less(t, time.Now(), end)
	}
	var a Epoch
	require.NoError(t, c.Get(ctx, "/v1/epoch", &a))
	require.Equal(t, Epoch{Epoch: 2, Quorum: "weighted:1=1", Phase: "idle", Dead: a.Dead}, a)
}

// typo is a quorum system of which only one member is there.
const typo = "majority:1,8,9"

// afterTypo has a node alone replace its quorum system by typo, with further parameters. It
// returns the epoch afterwards and the error.
func afterTypo(t *testing.T, more string) (a Epoch, err error) {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Listen: "127.0.0.1:0", Quorum: q, StateDir: t.TempDir(), Timing: failaware.LAN()})
	require.NoError(t, err)
	defer n.Close()
	_, c := serveNode(t, n)
	for { // until the node leads and answers, or is in the change, which does not end
		require.NoError(t, t.Context().Err())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err = c.Post(ctx, "/v1/epoch/change?system="+typo+more)
		cancel()
		require.NoError(t, c.Get(t.Context(), "/v1/epoch", &a))
		refused, answered := errors.AsType[*StatusError](err)
		if answered && !strings.Contains(refused.Text, "does not lead globally") || a.Quorum == typo || a.Next == typo {
			break
		}
	}
	return a, err
}

// A node that does not lead yet refuses such a system too, since it may lead a moment later.
func TestANodeThatComesToLeadIsToldTooWhoIsHeard(t *testing.T) {
	require.ErrorContains(t, heardByANodeThatComesToLead(t), "no quorum of majority:1,8,9 is heard")
}

// heardByANodeThatComesToLead asks a node from its start on, until it says something else than
// that it does not lead, which it returns.
func heardByANodeThatComesToLead(t *testing.T) error {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	n := startNode(t, failaware.Config{ID: 1, Quorum: q, StateDir: t.TempDir()})
	s := NewServer(n)
	defer s.Close()
	next, err := quorum.Parse(typo)
	require.NoError(t, err)
	ask := func() error {
		return s.heard(httptest.NewRequest(http.MethodPost, "/v1/epoch/change", nil), next)
	}
	for err = ask(); errors.Is(err, failaware.ErrNotLeader); err = ask() {
		require.NoError(t, t.Context().Err())
	}
	return err
}

// mistyped is a quorum system of which a quorum is there, and one voter is a mistyped one.
const mistyped = "weighted:1=3,8=1"

// reweighted is another system of these voters.
const reweighted = "weighted:1=5,8=1"

// takesTheMistyped has a node alone replace its quorum system by one with a voter that was never
// heard, and returns what is wrong: the node refuses it and names the voter, unless the caller
// insists, and says afterwards that it misses the voter.
func takesTheMistyped(t *testing.T) (wrong string) {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	n, err := failaware.Start(t.Context(), failaware.Config{ID: 1, Listen: "127.0.0.1:0", Quorum: q, StateDir: t.TempDir(), Timing: failaware.LAN()})
	require.NoError(t, err)
	defer n.Close()
	_, c := serveNode(t, n)
	for !n.LeadsGlobally() {
		time.Sleep(time.Millisecond)
	}
	var a Epoch
	if err = c.Post(t.Context(), "/v1/epoch/change?system="+mistyped); err == nil || !strings.Contains(err.Error(), "nodes {8} have no vote yet and are not alive") {
		wrong += fmt.Sprintf("it answers %v; ", err)
	}
	if require.NoError(t, c.Get(t.Context(), "/v1/epoch", &a)); a.Quorum == mistyped {
		return wrong + "it takes the system; "
	}
	for end := time.Now().Add(time.Minute); c.Post(t.Context(), "/v1/epoch/change?system="+mistyped+"&unheard=true") != nil; time.Sleep(2 * time.Millisecond) {
		require.Less(t, time.Now(), end)
	}
	if require.NoError(t, c.Get(t.Context(), "/v1/epoch", &a)); a.Quorum != mistyped || !slices.Equal(a.Missing, []int{8}) {
		wrong += fmt.Sprintf("it is in %s without %v; ", a.Quorum, a.Missing)
	}
	var s Status
	if require.NoError(t, c.Get(t.Context(), "/v1/status", &s)); !slices.Equal(s.Global.Missing, []int{8}) {
		wrong += fmt.Sprintf("its status misses %v; ", s.Global.Missing)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		err := c.Post(t.Context(), "/v1/epoch/change?system="+reweighted)
		if err == nil {
			return wrong
		} else if strings.Contains(err.Error(), "no vote yet") {
			return wrong + "it refuses a voter that has a vote"
		}
		require.Less(t, time.Now(), end)
	}
}

// One wrong digit in a quorum system takes its spare away. Whoever means a node that is not there
// says so, and all can see that it is missing.
func TestAMistypedVoterIsRefused(t *testing.T) { require.Empty(t, takesTheMistyped(t)) }

// A node that has a vote does not leave for good, unless the caller insists: its vote would be
// missing. It may leave otherwise.
func TestAVoterIsNotForgotten(t *testing.T) {
	for system, voter := range map[string]bool{"majority:1,2": true, "majority:2,3": false} {
		q, err := quorum.Parse(system)
		require.NoError(t, err)
		s, c := serveNode(t, startNode(t, failaware.Config{ID: 1, Quorum: q}))
		left := 0
		s.Leave = func(bool) (func(), error) { return func() { left++ }, nil }
		require.NoError(t, c.Post(t.Context(), "/v1/leave"))
		require.NoError(t, c.Post(t.Context(), "/v1/leave?forget=true&force=true"))
		require.Equal(t, 2, left)
		err = c.Post(t.Context(), "/v1/leave?forget=true")
		refused, ok := errors.AsType[*StatusError](err)
		require.Equal(t, voter, ok, "%v", err)
		if voter {
			require.Equal(t, http.StatusConflict, refused.Code)
			require.Contains(t, refused.Text, "this node has a vote in majority:1,2")
			require.Equal(t, 2, left)
		}
	}
}

// A quorum system of which no quorum is heard would leave the group without a leader.
func TestATypoReplacesNoQuorumSystem(t *testing.T) {
	a, err := afterTypo(t, "")
	refused, ok := errors.AsType[*StatusError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, http.StatusConflict, refused.Code)
	require.Contains(t, refused.Text, "no quorum of majority:1,8,9 is heard, only nodes {1}")
	require.Equal(t, "majority:1", a.Quorum)
	require.Empty(t, a.Next)
	a, err = afterTypo(t, "&unheard=perhaps")
	refused, ok = errors.AsType[*StatusError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, http.StatusBadRequest, refused.Code, refused.Text)
	require.Empty(t, a.Next, "who does not insist in so many words does not insist")
	a, _ = afterTypo(t, "&unheard=true")
	require.Contains(t, []string{a.Quorum, a.Next}, typo)
}
