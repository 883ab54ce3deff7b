//go:build mutants

package api

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/mutant"
)

func TestWatchesNoticeKvHalfRevision(t *testing.T) {
	mutant.Set("KvHalfRevision")
	defer mutant.Set(mutant.None)
	require.NotEqual(t, []string{"a", "b"}, watchHalves(t))
}

func TestWatchesNoticeKvSilentReset(t *testing.T) {
	mutant.Set("KvSilentReset")
	defer mutant.Set(mutant.None)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.Empty(t, afterMeeting(ctx, t))
}

func TestSessionsNoticeKvSessionUnread(t *testing.T) {
	mutant.Set("KvSessionUnread")
	defer mutant.Set(mutant.None)
	require.Equal(t, base64Of([]byte("blue")), appliedAgain(t), "it is carried out again")
}

func TestLeasesNoticeKvLeaseReadTwice(t *testing.T) {
	mutant.Set("KvLeaseReadTwice")
	defer mutant.Set(mutant.None)
	_, c := serveStore(t)
	l := ask[KVWrite](t, c, 200, "POST", "put", "v", "key", "a", "ttl", "5s").Lease
	require.Equal(t, []string{"a", "a"}, ask[KVLease](t, c, 200, "GET", "lease", "", "lease", l).Keys)
}

func TestAnswersNoticeKvTransitionalUnsaid(t *testing.T) {
	mutant.Set("KvTransitionalUnsaid")
	defer mutant.Set(mutant.None)
	got, want := outcomesOverTheAPI(t)
	require.NotEqual(t, want, got)
}

func TestBatchesNotice(t *testing.T) {
	for name, refused := range map[string]string{
		"KvBatchTypos":  `{"commands":[{"op":"delete","key":"colour","vers":"1"}]}`,
		"KvBatchBytes":  `{"commands":[{"op":"delete","key":"colour` + "\xff" + `"}]}`,
		"KvBatchNull":   `{"commands":[{"op":"delete","key":"colour","version":null}]}`,
		"KvBatchTwice":  `{"commands":[{"op":"delete","key":"colour"},{"op":"delete","key":"colour"}]}`,
		"KvBatchUnsaid": `{"commands":[{"op":"delete","key":"colour"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			mutant.Set(name)
			defer mutant.Set(mutant.None)
			_, c := serveStore(t)
			a := ask[KVBatch](t, c, 200, "POST", "batch", refused)
			require.Equal(t, name == "KvBatchUnsaid", a.Results[0].Code == 200 && a.Results[0].Error != "")
		})
	}
}

func TestMessagesNoticeKvMessageRaw(t *testing.T) {
	mutant.Set("KvMessageRaw")
	defer mutant.Set(mutant.None)
	require.Empty(t, messagesOfAStore(t), "the store takes them for none of its own")
}
