package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/kv"
)

// Each command of a batch has the result that it has by itself.
func TestCommandsOfABatchAreCarriedOutEachByItself(t *testing.T) {
	s, c := serveStore(t)
	before := ask[KVWrite](t, c, 200, "POST", "put", "blue", "key", "colour")
	id := ask[KVSession](t, c, 200, "POST", "session/open", "").Session
	none, one, ttl := "0", uint64(1), "10s"
	batch := []KVCommand{
		{Op: "put", Key: "plain", Value: []byte("x")},
		{Op: "put", Key: "empty", Value: []byte{}},
		{Op: "put", Key: "colour", Value: []byte("red"), Version: &none},
		{Op: "delete", Key: "gone"},
		{Op: "put", Key: "short", Value: []byte("y"), TTL: &ttl},
		{Op: "put", Key: "once", Value: []byte("z"), Session: &id, Number: &one},
		{Op: "put", Key: "large", Value: make([]byte, kv.MaxValueBytes+1)},
	}
	results, err := c.SubmitBatch(t.Context(), url.Values{}, batch)
	require.NoError(t, err)
	codes := make([]int, len(results))
	for i, r := range results {
		codes[i] = r.Code
		require.Equal(t, r.Code != 200, r.Error != "", "%d", i)
		if r.Write != nil {
			require.Equal(t, batch[i].Key, r.Write.Key)
			require.Equal(t, []int{1}, r.Write.Fresh.Members)
		}
	}
	require.Equal(t, []int{200, 200, 409, 404, 200, 200, 413}, codes)
	require.Nil(t, results[6].Write)
	require.Equal(t, before.Version, results[2].Write.Version)
	require.NotEmpty(t, results[4].Write.Lease)
	for key, value := range map[string]string{"plain": "x", "empty": "", "colour": "blue", "short": "y", "once": "z"} {
		g := ask[KVGet](t, c, 200, "GET", "get", "", "key", key)
		require.Equal(t, base64Of([]byte(value)), g.Value, key)
	}
	again, err := c.SubmitBatch(t.Context(), url.Values{}, batch[5:6])
	require.NoError(t, err)
	require.True(t, again[0].Write.Repeated)
	dropped, err := c.SubmitBatch(t.Context(), url.Values{}, []KVCommand{{Op: "delete", Key: "plain", Version: &results[0].Write.Version}})
	require.NoError(t, err)
	require.Equal(t, 200, dropped[0].Code)
	ask[KVGet](t, c, 404, "GET", "get", "", "key", "plain")

	s.fail(failaware.ErrNoQuorum)
	failed, err := c.SubmitBatch(t.Context(), url.Values{}, batch[:1])
	require.NoError(t, err)
	require.Equal(t, 503, failed[0].Code)
	require.Nil(t, failed[0].Write)
}

// A batch with one malformed command changes nothing, and the error names that command.
func TestAMalformedBatchChangesNothing(t *testing.T) {
	_, c := serveStore(t)
	good := `{"op":"put","key":"good","value":"eA=="}`
	for want, body := range map[string]string{
		"the body is not a batch":                        `[`,
		"not a batch: it is not UTF-8":                   `{"commands":[` + good + `,{"op":"delete","key":"a` + "\xff" + `"}]}`,
		`a batch: commands[1]: unknown field \"vers\"`:   `{"commands":[` + good + `,{"op":"put","key":"a","value":"","vers":"0"}]}`,
		`a batch: unknown field \"atomic\"`:              `{"commands":[` + good + `],"atomic":true}`,
		`or has half of a surrogate pair`:                `{"commands":[` + good + `,{"op":"delete","key":"a\ud800"},{"op":"delete","key":"a\uDFFF"}]}`,
		`it is not UTF-8, or has half of a surrogate`:    `{"commands":[` + good + `,{"op":"put","key":"\\ufffd\ud83d\ufffd","value":""}]}`,
		"commands[1].version: its type is wrong: number": `{"commands":[` + good + `,{"op":"delete","key":"a","version":1}]}`,
		`1]: ttl \"3\" is not a duration with a unit`:    `{"commands":[` + good + `,{"op":"put","key":"a","value":"","ttl":"3"}]}`,
		`1]: ttl \"3ms\": a time to live is from`:        `{"commands":[` + good + `,{"op":"put","key":"a","value":"","ttl":"3ms"}]}`,
		"the body has more than a batch":                 `{"commands":[` + good + `]} {}`,
		"there are 0, and a batch has from 1 to 128":     `{"commands":[]}`,
		"there are 129":                                                 many(MaxBatch + 1),
		"commands[1]: op: ":                                             `{"commands":[` + good + `,{"op":"get","key":"a"}]}`,
		"commands[1]: key: a key is":                                    `{"commands":[` + good + `,{"op":"delete","key":""}]}`,
		"commands[1]: value: it is missing":                             `{"commands":[` + good + `,{"op":"put","key":"a"}]}`,
		"commands[1]: version: it is empty":                             `{"commands":[` + good + `,{"op":"delete","key":"a","version":""}]}`,
		"commands[1]: version: ":                                        `{"commands":[` + good + `,{"op":"delete","key":"a","version":"x"}]}`,
		"commands[1]: lease: it is empty":                               `{"commands":[` + good + `,{"op":"put","key":"a","value":"","lease":""}]}`,
		"commands[1]: lease: ":                                          `{"commands":[` + good + `,{"op":"put","key":"a","value":"","lease":"x"}]}`,
		"commands[1]: ttl: it is empty":                                 `{"commands":[` + good + `,{"op":"put","key":"a","value":"","ttl":""}]}`,
		"commands[1]: null is there, and not a value":                   `{"commands":[` + good + `,{"op":"put","key":"a","value":"eA==","version":null}]}`,
		"commands[1]: null is there, and not a value: leave out":        `{"commands":[` + good + `,{"op":"put","key":"a","value":"eA==","ttl": null }]}`,
		"a batch: commands[1]: null is there, and not a value":          `{"commands":[` + good + `,null,` + good + `]}`,
		"a batch: null is there, and not a value":                       `{"commands":null}`,
		"a batch: commands[1]: it is a JSON number, and not an object":  `{"commands":[` + good + `,7]}`,
		"a batch: commands[1].value: it is not base64: byte 2 is wrong": `{"commands":[` + good + `,{"op":"put","key":"a","value":"eA!="}]}`,
		"a batch: commands: its type is wrong: object":                  `{"commands":{}}`,
		"a batch: it is a JSON array, and not an object":                `[]`,
		"a batch: it is a JSON string, and not an object":               `"a"`,
		"a batch: it is empty":                                          ``,
		`commands[1]: "value" is a list`:                                `{"commands":[` + good + `,{"op":"put","key":"a","value":[110]}]}`,
		"commands[1]: ttl ":                                             `{"commands":[` + good + `,{"op":"put","key":"a","value":"","ttl":"1ns"}]}`,
		"commands[1]: ttl: it makes a lease of its":                     `{"commands":[` + good + `,{"op":"put","key":"a","value":"","ttl":"10s","lease":"0000000000000001.2"}]}`,
		"commands[1]: session: it is empty":                             `{"commands":[` + good + `,{"op":"delete","key":"a","session":"","number":1}]}`,
		"commands[1]: session and number belong":                        `{"commands":[` + good + `,{"op":"delete","key":"a","number":1}]}`,
		"commands[1]: delete has no value":                              `{"commands":[` + good + `,{"op":"delete","key":"a","value":""}]}`,
		"commands[1]: delete has no value, ttl":                         `{"commands":[` + good + `,{"op":"delete","key":"a","ttl":"10s"}]}`,
		"commands[1]: delete has no value, ttl or le":                   `{"commands":[` + good + `,{"op":"delete","key":"a","lease":"0000000000000001.2"}]}`,
		"commands[2]: commands[0] has the same key":                     `{"commands":[` + good + `,{"op":"delete","key":"a"},{"op":"delete","key":"good"}]}`,
	} {
		var a KVBatch
		err := c.AskStore(t.Context(), "POST", "batch", url.Values{}, []byte(body), &a)
		var told struct{ Text string }
		if e, ok := errors.AsType[*StatusError](err); ok {
			told.Text = e.Text
			require.Equal(t, 400, e.Code, want)
		}
		require.Contains(t, told.Text, strings.ReplaceAll(want, `\"`, `"`))
		require.NotContains(t, told.Text, "json:")
		require.NotContains(t, told.Text, "Go ")
		ask[KVGet](t, c, 404, "GET", "get", "", "key", "good")
	}
}

// What looks like a mistake in a string is none.
func TestABatchMayHaveAnyText(t *testing.T) {
	_, c := serveStore(t)
	// Whole characters are taken however they are written, the replacement character among them.
	ask[KVBatch](t, c, 200, "POST", "batch", `{"commands":[{"op":"delete","key":"null [] {n}"}]}`)
	ask[KVBatch](t, c, 200, "POST", "batch", `{"commands":[{"op":"put","key":"\\\ufffd\ud83d\ude00\\ufffd\uFFFD","value":""},{"op":"put","key":"\\ufffd","value":""}]}`)
	for _, key := range []string{`\�😀\ufffd�`, `\ufffd`} {
		ask[KVGet](t, c, 200, "GET", "get", "", "key", key)
		ask[KVWrite](t, c, 200, "POST", "delete", "", "key", key)
	}
	results, err := c.SubmitBatch(t.Context(), url.Values{}, commands(MaxBatch))
	require.NoError(t, err)
	require.Len(t, results, MaxBatch)
	require.Equal(t, MaxBatch, ask[KVStatus](t, c, 200, "GET", "status", "").Keys)
	ask[KVBatch](t, c, 413, "POST", "batch", strings.Repeat(" ", MaxBatchBytes)+many(1))
	largest, err := json.Marshal(map[string][]KVCommand{"commands": {{Op: "put", Key: strings.Repeat("k", kv.MaxKeyBytes), Value: make([]byte, kv.MaxValueBytes)}}})
	require.NoError(t, err)
	require.Equal(t, 200, ask[KVBatch](t, c, 200, "POST", "batch", string(largest)).Results[0].Code)
}

// A member that is there twice, however it is written, could turn a condition into none.
func TestAMemberThatIsThereTwiceIsRefused(t *testing.T) {
	_, c := serveStore(t)
	good := `{"op":"put","key":"good","value":"eA=="}`
	for want, body := range map[string]string{
		`commands[1]: "version" is there twice in one object`: `{"commands":[` + good + `,{"op":"put","key":"b","value":"eA==","version":"0","version":null}]}`,
		`commands[1]: "Version" is there twice`:               `{"commands":[` + good + `,{"op":"put","key":"b","value":"eA==","version":"0","Version":null}]}`,
		`commands[1]: "ſession" is there twice`:               `{"commands":[` + good + `,{"op":"put","key":"b","value":"eA==","session":"1/0000000000000007/o1","number":1,"\u017fession":null}]}`,
		`"commands" is there twice`:                           `{"commands":[` + good + `],"commands":[` + good + `]}`,
		`commands[0]: "value" is there twice`:                 `{"commands":[{"op":"put","key":"\"}{\"","v\u0061lue" : "eA==", "value":"" },` + good + `]}`,
	} {
		var a KVBatch
		err := c.AskStore(t.Context(), "POST", "batch", url.Values{}, []byte(body), &a)
		require.ErrorContains(t, err, "the body is not a batch: "+want, body)
		ask[KVGet](t, c, 404, "GET", "get", "", "key", "good")
	}
	// Other objects may have it, and so may values.
	ask[KVBatch](t, c, 200, "POST", "batch", `{"commands":[{"op":"put","key":"value","value":"eA=="},{"op":"delete","key":"op"},`+good+`]}`)
}

func commands(n int) (all []KVCommand) {
	for i := range n {
		all = append(all, KVCommand{Op: "put", Key: fmt.Sprint("k", i), Value: []byte("x")})
	}
	return all
}

func many(n int) string {
	b, _ := json.Marshal(map[string][]KVCommand{"commands": commands(n)})
	return string(b)
}

// waiting is a store whose commands wait for each other.
type waiting struct {
	*loneStore
	all  int32
	here atomic.Int32
	full chan struct{}
}

func (s *waiting) Submit(ctx context.Context, c kv.Command, in Attempt) (Submitted, error) {
	if s.here.Add(1) == s.all {
		close(s.full)
	}
	select {
	case <-s.full:
		return s.loneStore.Submit(ctx, c, in)
	case <-ctx.Done():
		return Submitted{}, context.Cause(ctx)
	}
}

// The commands of a batch do not wait for each other: they take as long as one.
func TestCommandsOfABatchAreCarriedOutAtOnce(t *testing.T) {
	s := &waiting{loneStore: newLoneStore(), all: MaxBatch, full: make(chan struct{})}
	_, c := serveWith(t, NewServerWithStore(startNode(t, failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{}}), s))
	results, err := c.SubmitBatch(t.Context(), url.Values{"wait": {(20 * time.Second).String()}}, commands(MaxBatch))
	require.NoError(t, err)
	for _, r := range results {
		require.Equal(t, 200, r.Code, r.Error)
	}
}
