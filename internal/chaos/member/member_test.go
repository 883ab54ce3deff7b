package member

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/failaware/failaware/internal/chaos/oracle"
	"github.com/failaware/failaware/replicate"
)

func TestPayloadsShowDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9.]{1,20}`).Draw(t, "text")
		b := payload(text)
		require.Equal(t, text, textOf(b))
		b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1
		require.NotEqual(t, text, textOf(b))
	})
}

// The numbers of a client that were applied are kept as runs, in whatever order they come.
func TestAppliedNumbersAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, seen := newRegisters(), map[uint64]bool{}
		for _, n := range rapid.SliceOf(rapid.Uint64Range(1, 30)).Draw(t, "numbers") {
			require.Equal(t, !seen[n], s.add("c", n))
			seen[n] = true
		}
		have, last := map[uint64]bool{}, uint64(0)
		for _, run := range s.Applied["c"] {
			require.Greater(t, run[0], last)
			for n := run[0]; n <= run[1]; n++ {
				have[n] = true
			}
			last = run[1] + 1 // runs do not touch
		}
		require.Equal(t, seen, have)
	})
}

func TestRegistersSurviveASnapshot(t *testing.T) {
	s := newRegisters()
	apply := func(n, value uint64) any {
		b, err := json.Marshal(command{Client: "1.1", Number: n, Key: "k", Value: value})
		require.NoError(t, err)
		return s.Apply(replicate.Operation{Command: b})
	}
	require.Equal(t, uint64(0), apply(1, 5))
	require.Equal(t, uint64(5), apply(2, 1<<63+1))
	require.Equal(t, uint64(1<<63+1), apply(1, 7), "again")
	require.Equal(t, uint64(1), s.Again)
	var b bytes.Buffer
	require.NoError(t, s.Snapshot(&b))
	next := newRegisters()
	require.NoError(t, next.Restore(&b))
	require.Equal(t, s, next)
}

// A claim is written down when it changes, with the last answer before, and now and then.
func TestClaimsAreWrittenWhenTheyChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), oracle.Name(1, 1))
	l, err := openLog(path)
	require.NoError(t, err)
	c := claim{log: l}
	for i, key := range []string{"", "a", "a", "a", "b", "b", ""} {
		c.note(key, oracle.Record{Kind: key, From: int64(i + 1)})
	}
	c.note("c", oracle.Record{Kind: "c", From: 100})
	c.note("c", oracle.Record{Kind: "c", From: 101})
	c.note("c", oracle.Record{Kind: "c", From: 100 + int64(repeatEvery)})
	require.NoError(t, l.failed())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var text string
	for line := range bytes.SplitSeq(bytes.TrimSpace(b), []byte("\n")) {
		var r oracle.Record
		require.NoError(t, json.Unmarshal(line, &r))
		text += r.Kind + " " + (time.Duration(r.From)).String() + " "
	}
	require.Equal(t, "a 2ns a 4ns b 5ns b 6ns c 100ns c 20.0001ms ", text)
}
