package api

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// A hold counts from before the request, however long the way to the node and back
// took, and a sleep voids it.
func holdCountsFromTheQuestion(t testing.TB) {
	var now atomic.Int64
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "api"))
	require.NoError(t, err)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		now.Add(int64(30 * time.Millisecond)) // there
		Answer(w, http.StatusOK, Hold{Node: 1, Boot: "b", SinceNS: 5, ValidForNS: int64(100 * time.Millisecond)})
		now.Add(int64(20 * time.Millisecond)) // and back
	})}
	go srv.Serve(l)
	defer srv.Close()
	now.Store(int64(time.Second))
	clock := hwclock.Of(now.Load)
	const drift = timed.Drift(100_000)
	h, err := NewClient(Address{Socket: filepath.Join(dir, "api")}, "").Hold(t.Context(), clock, drift, false, "")
	require.NoError(t, err)
	require.Equal(t, timed.Instant(time.Second).Add(drift.Trust(100*time.Millisecond)), h.Until)
	require.Less(t, h.Left(), 70*time.Millisecond)
	now.Store(int64(h.Until) - 1)
	require.Equal(t, time.Nanosecond, h.Left())
	now.Add(1)
	require.Zero(t, h.Left())
}

func TestHoldCountsFromTheQuestion(t *testing.T) { holdCountsFromTheQuestion(t) }

func TestNoHoldLastsOverASleep(t *testing.T) {
	clock := hwclock.Of(func() int64 { return 0 })
	h := &Held{Until: 100, era: 1, clock: clock}
	require.Zero(t, h.Left())
	h.era = 0
	require.Equal(t, time.Duration(100), h.Left())
	require.Zero(t, (&Held{Until: 100}).Left(), "its era is over")
}

// A lead of the same incarnation that began later is another one.
func leadsAreTold(t testing.TB) {
	h := &Held{Hold: Hold{Node: 1, Boot: "a", SinceNS: 5, ValidForNS: 7}}
	require.True(t, h.SameLead(&Held{Hold: Hold{Node: 1, Boot: "a", SinceNS: 5, ValidForNS: 9}}))
	require.False(t, h.SameLead(&Held{Hold: Hold{Node: 1, Boot: "a", SinceNS: 6}}))
	require.False(t, h.SameLead(&Held{Hold: Hold{Node: 1, Boot: "b", SinceNS: 5}}))
}

func TestLeadsAreToldApart(t *testing.T) { leadsAreTold(t) }

// A node may lose the global lead between the hold and the edict.
func TestThereIsNoHoldWithoutTheEdictThatItNeeds(t *testing.T) {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	n := startNode(t, failaware.Config{ID: 1, Quorum: q})
	lost := errors.New("the lead was lost")
	makeEdict := func([]byte) (edict.Edict, error) { return edict.Edict{}, lost }
	require.Eventually(t, func() bool {
		_, _, err := grant(t.Context(), n, true, "", makeEdict)
		return err == nil
	}, longEnough, time.Millisecond)
	require.Eventually(t, func() bool {
		_, _, err := grant(t.Context(), n, true, "volume-7", makeEdict)
		require.Error(t, err)
		return err == lost
	}, longEnough, time.Millisecond)
}

func TestHoldsOfRealNodes(t *testing.T) {
	q, err := quorum.Majority(timed.SetOf(1))
	require.NoError(t, err)
	n := startNode(t, failaware.Config{ID: 1, Quorum: q})
	_, c := serveNode(t, n)
	clock, err := hwclock.New()
	require.NoError(t, err)
	ctx, drift := t.Context(), n.Config().Timing.MaxDrift
	for _, global := range []bool{false, true} {
		require.Eventually(t, func() bool {
			h, err := c.Hold(ctx, clock, drift, global, "")
			if err != nil {
				var refused *StatusError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, http.StatusConflict, refused.Code)
				require.Contains(t, refused.Text, "this node does not lead")
				return false
			}
			require.Equal(t, 1, h.Node)
			require.Equal(t, global, h.Global)
			require.Empty(t, h.Edict)
			again, err := c.Hold(ctx, clock, drift, global, "")
			return err == nil && h.SameLead(again) && again.Left() > 0
		}, longEnough, time.Millisecond)
	}
	var edicts []edict.Edict
	for len(edicts) < 2 {
		h, err := c.Hold(ctx, clock, drift, true, "volume-7")
		if err != nil {
			continue // a busy machine may take the lead away
		}
		e, err := edict.Parse(h.Edict)
		require.NoError(t, err)
		require.Equal(t, edict.Sum([]byte("volume-7")), e.Digest)
		edicts = append(edicts, e)
	}
	require.Equal(t, edict.After, edict.Compare(edicts[1], edicts[0]))
	for path, want := range map[string]string{
		"?global=maybe": `global: "maybe" is neither true nor false`,
		"?token=x":      "token: only global leaders create edicts",
	} {
		err := c.Post(ctx, holdPath+path)
		var refused *StatusError
		require.True(t, errors.As(err, &refused), path)
		require.Equal(t, http.StatusBadRequest, refused.Code)
		require.Contains(t, refused.Text, want)
	}
	require.NoError(t, n.Close())
	_, err = c.Hold(ctx, clock, drift, false, "")
	var refused *StatusError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusServiceUnavailable, refused.Code)
}

// A hold counts until its end, and only while the machine has not slept: how a clock went
// meanwhile is not known.
func TestHoldsEndWithTheEra(t *testing.T) {
	h := &Held{Until: 100, era: 3}
	require.Equal(t, time.Duration(1), h.LeftAt(hwclock.Reading{Now: 99, Era: 3}))
	require.Zero(t, h.LeftAt(hwclock.Reading{Now: 101, Era: 3}))
	require.Zero(t, h.LeftAt(hwclock.Reading{Now: 99, Era: 4}))
}
