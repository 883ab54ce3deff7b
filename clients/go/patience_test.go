package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// doer answers requests without a network, in virtual time.
type doer func(q *http.Request) (*http.Response, error)

func (d doer) Do(q *http.Request) (*http.Response, error) { return d(q) }

func (d doer) client(t *testing.T) *ClientWithResponses {
	c, err := NewClientWithResponses("http://node", WithHTTPClient(d))
	require.NoError(t, err)
	return c
}

// says returns an answer.
func says(code int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// A node that takes a command and then stands still does not keep it: another one is asked.
func TestAnAttemptEndsBeforeTheCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stands := doer(func(q *http.Request) (*http.Response, error) {
			<-q.Context().Done()
			return nil, q.Context().Err()
		})
		works := doer(func(*http.Request) (*http.Response, error) { return says(http.StatusOK, `{"status": "done"}`) })
		began := time.Now()
		_, err := ResumeSession("1/0000000000000007/o1", 1, stands.client(t), works.client(t)).Put(t.Context(), KvPutParams{Key: "colour"}, nil)
		require.NoError(t, err)
		require.Equal(t, AttemptTime+againAfter, time.Since(began))
	})
}

// Only the first command of a resumed session may have been sent before. That a later one is
// refused is known at once.
func TestOnlyTheFirstCommandWasSentBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		codes := []int{http.StatusOK, http.StatusBadRequest}
		node := doer(func(*http.Request) (*http.Response, error) {
			code := codes[0]
			codes = codes[len(codes)-1:]
			return says(code, `{"status": "done", "error": "wrong"}`)
		})
		s := ResumeSession("1/0000000000000007/o1", 4, node.client(t))
		_, err := s.Put(t.Context(), KvPutParams{Key: "colour"}, nil)
		require.NoError(t, err)
		_, err = s.Put(t.Context(), KvPutParams{Key: "colour"}, nil)
		require.EqualError(t, err, "failaware: wrong")
		require.NotErrorIs(t, err, ErrUnknownOutcome)
	})
}

// A stream that says nothing is left for the next node, and one whose item the caller handles
// for long is not.
func TestOnlySilentStreamsAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		asked := 0
		node := doer(func(q *http.Request) (*http.Response, error) {
			asked++
			in, out := io.Pipe()
			context.AfterFunc(q.Context(), func() { _ = out.CloseWithError(q.Context().Err()) })
			number := asked
			go func() { // an empty value is left out
				for i := range 2 {
					_, _ = fmt.Fprintf(out, "data: {\"id\": \"%d.%d\", \"kind\": \"item\", \"key\": \"a\"}\n\n", number, i)
				}
			}()
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: in}, nil
		})
		var ids []string
		var times []time.Duration
		began := time.Now()
		for change, err := range Watch(ctx, KvWatchParams{}, node.client(t)) {
			if err != nil {
				require.EqualError(t, err, "enough")
				break
			}
			require.NotNil(t, change.Value)
			require.Empty(t, *change.Value)
			ids, times = append(ids, change.Id), append(times, time.Since(began))
			switch change.Id {
			case "1.0":
				time.Sleep(3 * Silence)
			case "2.0":
				cancel(errors.New("enough"))
			}
		}
		require.Equal(t, []string{"1.0", "1.1", "2.0"}, ids[:min(3, len(ids))])
		require.Equal(t, []time.Duration{0, 3 * Silence, 4*Silence + againAfter}, times[:min(3, len(times))])
	})
}

// A watch from a place after which nobody keeps the changes ends, unless it may begin anew.
func TestAWatchOfWhatIsGoneEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		asked := 0
		node := doer(func(*http.Request) (*http.Response, error) {
			asked++
			return says(http.StatusGone, `{"error": "not kept"}`)
		})
		since := "7"
		for _, err := range Watch(ctx, KvWatchParams{Since: &since}, node.client(t), node.client(t)) {
			require.EqualError(t, err, "failaware: not kept")
		}
		require.Equal(t, 1, asked)
	})
}

// What no session can be is not sent for a minute, and its outcome is known.
func TestAnImpossibleSessionIsNotAsked(t *testing.T) {
	node := doer(func(q *http.Request) (*http.Response, error) {
		t.Error("sent", q.URL)
		return says(http.StatusBadRequest, `{"error": "wrong"}`)
	}).client(t)
	for want, s := range map[string]*Session{
		`"1/0000000000000007" is not the id of a session`: ResumeSession("1/0000000000000007", 1, node),
		`"" is not the id of a session`:                   ResumeSession("", 1, node),
		"0 is not the number of a command":                ResumeSession("1/0000000000000007/o1", 0, node),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err := s.Put(ctx, KvPutParams{Key: "colour"}, nil)
		cancel()
		require.ErrorContains(t, err, want)
		require.NotErrorIs(t, err, ErrUnknownOutcome)
	}
}
