package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// batchNode is a node that takes a while for each request, and notes the keys of each.
type batchNode struct {
	mu      sync.Mutex
	batches [][]string
	takes   time.Duration
	answer  func(c KVCommand) string // the result of a command; nil: done
}

func (n *batchNode) Do(q *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(q.Body)
	if err != nil || len(b) > WriterBytes {
		return nil, fmt.Errorf("a body of %d bytes: %w", len(b), err)
	}
	var body KvBatchJSONBody
	if err := json.Unmarshal(b, &body); err != nil {
		return nil, err
	}
	var keys, results []string
	for _, c := range body.Commands {
		if c.Version != nil && *c.Version == "malformed" {
			return says(http.StatusBadRequest, `{"error": "no version"}`)
		}
		keys = append(keys, c.Key)
		result := fmt.Sprintf(`{"code": 200, "write": {"status": "done", "key": %q, "version": "7"}}`, c.Key)
		if n.answer != nil {
			result = n.answer(c)
		}
		results = append(results, result)
	}
	n.mu.Lock()
	n.batches = append(n.batches, keys)
	n.mu.Unlock()
	select {
	case <-time.After(n.takes):
		return says(http.StatusOK, `{"results": [`+strings.Join(results, ",")+`]}`)
	case <-q.Context().Done():
		return nil, q.Context().Err()
	}
}

func (n *batchNode) writer(t *testing.T) *Writer { return NewWriter(doer(n.Do).client(t)) }

// Commands gather while requests are under way; each gets its own answer.
func TestCommandsOfManyCallersTravelTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &batchNode{takes: time.Second}
		w := n.writer(t)
		var all sync.WaitGroup
		const callers = 1000
		for i := range callers {
			all.Go(func() {
				key := fmt.Sprint("k", i)
				a, err := w.Put(t.Context(), key, nil)
				require.NoError(t, err)
				require.Equal(t, key, *a.Key)
			})
		}
		begun := time.Now()
		all.Wait()
		require.LessOrEqual(t, time.Since(begun), 3*time.Second)
		require.LessOrEqual(t, len(n.batches), WriterRequests+callers/WriterCommands+1)
		seen := map[string]bool{}
		for _, b := range n.batches {
			require.LessOrEqual(t, len(b), WriterCommands)
			for _, key := range b {
				require.False(t, seen[key], "sent once")
				seen[key] = true
			}
		}
		require.Len(t, seen, callers)
		synctest.Wait()
		w.mu.Lock()
		require.Zero(t, w.underway)
		w.mu.Unlock()

		before := time.Now()
		_, err := w.Put(t.Context(), "alone", []byte("x"))
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(before), "a command that comes alone does not wait")
	})
}

// One request has no key twice, and no more bytes than a node takes.
func TestARequestTakesWhatANodeTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &batchNode{takes: time.Second}
		w := n.writer(t)
		var all sync.WaitGroup
		put := func(key string, value []byte) {
			all.Go(func() {
				_, err := w.Put(t.Context(), key, value)
				require.NoError(t, err)
			})
		}
		for range WriterRequests {
			put("first", nil) // each goes at once
			synctest.Wait()
		}
		for range 3 {
			put("same", nil)
			put("large", make([]byte, 300<<10)) // 400 KiB of base64
			put(fmt.Sprint("large", time.Now().UnixNano()), make([]byte, 300<<10))
			synctest.Wait()
			time.Sleep(time.Millisecond)
		}
		all.Wait()
		for _, b := range n.batches {
			keys := map[string]bool{}
			for _, key := range b {
				require.False(t, keys[key], "%v", b)
				keys[key] = true
			}
		}
	})
	_, err := NewWriter(nil).Put(t.Context(), "k", make([]byte, WriterBytes))
	require.ErrorContains(t, err, "a request takes")
}

// A command that fills a request alone is sent, and holds up none behind it.
func TestACommandThatFillsARequest(t *testing.T) {
	const most = WriterBytes - len(batchBegin) - len(batchEnd)
	synctest.Test(t, func(t *testing.T) {
		n := &batchNode{}
		w := n.writer(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // of the bubble: it passes at once
		defer cancel()
		c := KVCommand{Op: CommandPut, Key: "k", Value: new([]byte)}
		for _, size := range []int{most - 1, most} {
			text, err := json.Marshal(KVCommand{Op: c.Op, Key: "", Value: c.Value})
			require.NoError(t, err)
			c.Key = strings.Repeat("k", size-len(text))
			_, err = w.Do(ctx, c)
			require.NoError(t, err, "%d bytes", size)
			_, err = w.Put(ctx, "behind", nil)
			require.NoError(t, err, "behind %d bytes", size)
		}
		c.Key += "k"
		_, err := w.Do(ctx, c)
		require.ErrorContains(t, err, "a request takes")
	})
}

// A key that JSON cannot carry does not turn into another key, nor do two of them spoil a
// request for others.
func TestAKeyThatIsNotUTF8IsRefused(t *testing.T) {
	n := &batchNode{}
	w := n.writer(t)
	_, err := w.Put(t.Context(), "k\xff", nil)
	require.ErrorContains(t, err, "not UTF-8")
	require.NotErrorIs(t, err, ErrUnknownOutcome)
	require.Empty(t, n.batches)
}

// A malformed command fails alone, although a node refuses the whole request.
func TestAMalformedCommandFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &batchNode{takes: time.Second}
		w := n.writer(t)
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				c := KVCommand{Op: CommandDelete, Key: fmt.Sprint("k", i)}
				if i%40 == 20 {
					c.Version = new("malformed")
				}
				_, err := w.Do(t.Context(), c)
				if c.Version == nil {
					require.NoError(t, err, c.Key)
					return
				}
				require.EqualError(t, err, "failaware: no version")
				require.NotErrorIs(t, err, ErrUnknownOutcome)
			})
		}
		all.Wait()
		sent := map[string]bool{}
		for _, b := range n.batches {
			for _, key := range b {
				require.False(t, sent[key], "carried out once")
				sent[key] = true
			}
		}
		require.Len(t, sent, 98)
	})
}

// A caller that does not wait any longer knows whether its command was sent.
func TestACommandThatIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &batchNode{takes: 2 * time.Second}
		w := n.writer(t)
		var all sync.WaitGroup
		for i := range WriterRequests {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := w.Put(ctx, fmt.Sprint("sent", i), nil)
				require.ErrorIs(t, err, ErrUnknownOutcome)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotContains(t, err.Error(), "session")
			})
			synctest.Wait() // each goes at once, in a request of its own
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := w.Put(ctx, "kept", nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, ErrUnknownOutcome)
		all.Wait()
		time.Sleep(5 * time.Second)
		for _, b := range n.batches {
			require.NotContains(t, b, "kept")
		}
	})
}

// Each code of a command, and each end of a request, says whether something may have changed.
func TestAWriterSaysWhetherTheOutcomeIsKnown(t *testing.T) {
	session, number := "3/00c0ffee00c0ffee/o12", int64(7)
	command := KVCommand{Op: CommandDelete, Key: "k", Session: &session, Number: &number}
	for result, unknown := range map[string]bool{
		`{"code": 400, "error": "x"}`: false, `{"code": 413, "error": "x"}`: false, `{"code": 422, "error": "x"}`: false,
		`{"code": 501, "error": "x"}`: false, `{"code": 503, "error": "x"}`: false,
		`{"code": 504, "error": "x"}`: true, `{"code": 410, "error": "x"}`: true, `{"code": 500, "error": "x"}`: true, `{"code": 200}`: true,
	} {
		w := (&batchNode{answer: func(KVCommand) string { return result }}).writer(t)
		a, err := w.Do(t.Context(), command)
		require.Nil(t, a)
		require.Error(t, err, result)
		require.Equal(t, unknown, errors.Is(err, ErrUnknownOutcome), result)
		if e, ok := errors.AsType[*UnknownOutcomeError](err); ok {
			require.Equal(t, session, e.Session)
			require.Equal(t, number, e.Number)
			require.Equal(t, strings.Contains(result, "410"), e.Ended)
		}
	}
	for _, code := range []int{200, 404, 409, 507} {
		w := (&batchNode{answer: func(KVCommand) string {
			return fmt.Sprintf(`{"code": %d, "write": {"status": "full"}, "error": "x"}`, code)
		}}).writer(t)
		a, err := w.Do(t.Context(), command)
		require.NoError(t, err)
		require.Equal(t, "full", string(a.Status))
	}
	for what, x := range map[string]struct {
		answer  doer
		unknown bool
	}{
		"refused":  {func(*http.Request) (*http.Response, error) { return says(400, `{"error": "x"}`) }, false},
		"no store": {func(*http.Request) (*http.Response, error) { return says(501, `{"error": "x"}`) }, false},
		"proxy":    {func(*http.Request) (*http.Response, error) { return says(503, "x") }, true},
		"broken":   {func(*http.Request) (*http.Response, error) { return says(200, `{"results": [`) }, true},
		"fewer":    {func(*http.Request) (*http.Response, error) { return says(200, `{"results": []}`) }, true},
		"lost":     {func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, true},
		"dial":     {func(*http.Request) (*http.Response, error) { return nil, &net.OpError{Op: "dial", Err: io.EOF} }, false},
	} {
		_, err := NewWriter(x.answer.client(t)).Put(t.Context(), "k", nil)
		require.Error(t, err, what)
		require.Equal(t, x.unknown, errors.Is(err, ErrUnknownOutcome), "%s: %v", what, err)
	}
}

// A node that stands still holds up nobody for good.
func TestARequestOfAWriterEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := (&batchNode{takes: time.Hour}).writer(t)
		begun := time.Now()
		_, err := w.Put(context.Background(), "k", nil)
		require.ErrorIs(t, err, ErrUnknownOutcome)
		require.Equal(t, AttemptTime, time.Since(begun))
	})
}

// A value of no bytes is a value, which JSON's null is not.
func TestAWriterPutsNoBytesAsAValue(t *testing.T) {
	values := map[string]*[]byte{}
	n := &batchNode{answer: func(c KVCommand) string {
		values[c.Key] = c.Value
		return `{"code": 200, "write": {"status": "done", "version": "7"}}`
	}}
	_, err := n.writer(t).Put(t.Context(), "k", nil)
	require.NoError(t, err)
	require.NotNil(t, values["k"])
	require.NotNil(t, *values["k"])
	require.Empty(t, *values["k"])
}
