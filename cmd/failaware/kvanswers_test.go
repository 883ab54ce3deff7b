package main

import (
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
)

// storeThat starts a node whose store answers each path of GET with a status and a value, and
// returns its socket.
func storeThat(t *testing.T, status int, answers map[string]any) string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/kv/{path...}", func(w http.ResponseWriter, q *http.Request) {
		api.Answer(w, status, answers[q.PathValue("path")])
	})
	return serveAt(t, mux)
}

// stale is the freshness of a node that has no quorum.
var stale = api.KVFresh{Members: []int{1}, Situation: "no quorum"}

// The exit code is the same in each format.
func TestExitCodesDoNotDependOnTheFormat(t *testing.T) {
	socket := storeThat(t, http.StatusOK, map[string]any{
		"status":    api.KVStatus{Kind: "linearizable", Absent: []int{}, Fresh: stale},
		"conflicts": api.KVConflicts{Conflicts: []api.KVConflict{}, Fresh: stale},
	})
	for _, format := range []string{"table", "json", "ndjson"} {
		code, _, stderr := invoke("--addr", socket, "kv", "status", "-o", format)
		require.Equal(t, int(exitUnavailable), code, "status -o %s: %s", format, stderr)
		code, _, stderr = invoke("--addr", socket, "kv", "conflicts", "-o", format)
		require.Equal(t, 1, code, "conflicts -o %s: %s", format, stderr)
	}
}

// With --raw, a value comes out as it was put, so that what is saved can be put again.
func TestARawValueIsWithoutALineBreak(t *testing.T) {
	value := base64.StdEncoding.EncodeToString([]byte("a\x00b"))
	socket := storeThat(t, http.StatusOK, map[string]any{"get": api.KVGet{Key: "picture", Found: true, Value: value, Fresh: api.KVFresh{UpToDate: true, AtMostNS: 1e9}}})
	code, out, stderr := invoke("--addr", socket, "kv", "get", "picture")
	require.Zero(t, code, stderr)
	require.Equal(t, "a\x00b\n", out)
	code, out, stderr = invoke("--addr", socket, "kv", "get", "picture", "--raw")
	require.Zero(t, code, stderr)
	require.Equal(t, "a\x00b", out)
	code, _, stderr = invoke("--addr", socket, "kv", "get", "picture", "--raw", "-o", "json")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--raw: the value in JSON is base64")
}

// That there is no such key, as far as the node knows, may be old too.
func TestAMissingKeyMayBeOldKnowledge(t *testing.T) {
	socket := storeThat(t, http.StatusNotFound, map[string]any{
		"get": api.KVGet{Key: "colour", Fresh: stale, Error: `there is no key "colour"`},
	})
	code, _, stderr := invoke("--addr", socket, "kv", "get", "colour", "--local")
	require.Equal(t, int(exitNotFound), code)
	require.Equal(t, "failaware: this may be old: no quorum\nfailaware: there is no key \"colour\"\n", stderr)
}

// A value is old knowledge while changes wait, even if the view is up to date.
func TestChangesThatWaitMakeAValueOld(t *testing.T) {
	for behind, want := range map[int]string{
		0: "failaware: as this node knows it: others of [1 2] may have written since\n",
		3: "failaware: this may be old: the view is not up to date, or 3 changes wait\n",
	} {
		fresh := api.KVFresh{UpToDate: true, Members: []int{1, 2}, Situation: "at work", Behind: behind}
		socket := storeThat(t, http.StatusOK, map[string]any{"get": api.KVGet{Key: "colour", Found: true, Value: "Ymx1ZQ==", Fresh: fresh}})
		code, out, stderr := invoke("--addr", socket, "kv", "get", "colour", "--local")
		require.Equal(t, 0, code)
		require.Equal(t, "blue\n", out)
		require.Equal(t, want, stderr)
	}
}

// The status of a node whose disk is full names the disk, and how many changes wait for it.
func TestStatusOfAFullDisk(t *testing.T) {
	socket := storeThat(t, http.StatusOK, map[string]any{"status": api.KVStatus{
		Kind: "linearizable", Storage: "kv", Disk: "journal: the disk is full: no space left on device", Absent: []int{}, Revision: 156,
		Fresh: api.KVFresh{UpToDate: true, AtMostNS: 1e9, Members: []int{1, 2, 3}, Situation: "at work", Behind: 376},
	}})
	code, out, stderr := invoke("--addr", socket, "kv", "status")
	require.Equal(t, int(exitUnavailable), code, stderr)
	require.Contains(t, out, "revision 156, 376 changes wait; at work\n")
	require.Contains(t, out, "takes commands: no\n")
	require.Regexp(t, `waits for +its disk: journal: the disk is full: no space left on device\n`, out)
}

// A node whose own disk is full names that alone, although it is one of those that hold the
// group up.
func TestStatusOfANodeThatHoldsUpItself(t *testing.T) {
	socket := storeThat(t, http.StatusOK, map[string]any{"status": api.KVStatus{
		Kind: "partitionable", Absent: []int{}, Unstored: []int{3}, UnstoredNS: 90e9, Disk: "no space left on device",
	}})
	code, out, stderr := invoke("--addr", socket, "kv", "status")
	require.Equal(t, int(exitUnavailable), code, stderr)
	require.Contains(t, out, "takes commands: no\n")
	require.Equal(t, 1, strings.Count(out, "waits for"), out)
}

// The status of a node that waits for the disks of others names them, also before they hold up
// so much that the node takes no more commands.
func TestStatusOfANodeThatWaitsForOtherDisks(t *testing.T) {
	for _, accepting := range []bool{false, true} {
		socket := storeThat(t, http.StatusOK, map[string]any{"status": api.KVStatus{
			Kind: "partitionable", Accepting: accepting, Absent: []int{}, Unstored: []int{2, 3}, UnstoredNS: 90e9,
		}})
		code, out, stderr := invoke("--addr", socket, "kv", "status")
		require.Equal(t, int(exitUnavailable), code, stderr)
		require.Contains(t, out, "takes commands: no, held up by nodes [2 3] for 1m30s\n")
		require.Regexp(t, `waits for +the disk of nodes \[2 3\]: 'kv status' there says why\n`, out)
	}
}

// A member that acknowledges nothing holds commands up, also before that has lasted for so long
// that the node says it takes none.
func TestStatusOfANodeThatWaitsForAMember(t *testing.T) {
	for _, accepting := range []bool{false, true} {
		socket := storeThat(t, http.StatusOK, map[string]any{"status": api.KVStatus{
			Kind: "linearizable", Accepting: accepting, Absent: []int{}, Lag: "node 3, without an acknowledgement for 4s",
		}})
		code, out, stderr := invoke("--addr", socket, "kv", "status")
		require.Equal(t, int(exitUnavailable), code, stderr)
		require.Contains(t, out, "takes commands: no\n")
		require.Regexp(t, `waits for +node 3, without an acknowledgement for 4s\n`, out)
	}
}

// One that takes commands, and whose disks hold none up, is well.
func TestStatusOfANodeThatTakesCommands(t *testing.T) {
	socket := storeThat(t, http.StatusOK, map[string]any{"status": api.KVStatus{Kind: "partitionable", Accepting: true, Absent: []int{}}})
	code, out, stderr := invoke("--addr", socket, "kv", "status")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, out, "takes commands: yes\n")
}

// Something between the command and the node, such as a proxy, does not say that a command can
// never succeed.
func TestAnswersOfProxies(t *testing.T) { proxiesAnswer(t) }

func proxiesAnswer(t testing.TB) {
	for status := 500; status < 600; status++ { // proxies have codes of their own
		switch status {
		case http.StatusNotImplemented, http.StatusGatewayTimeout, http.StatusInsufficientStorage:
			continue // a node has them too
		}
		answer := &api.StatusError{Code: status, Foreign: true, Text: "the server answers " + http.StatusText(status)}
		require.Equal(t, exitUnavailable, kvError(http.MethodGet, answer).Code)
		require.Equal(t, exitUnknown, kvError(http.MethodPost, answer).Code)
	}
	require.Equal(t, cli.ExitWrong, kvError(http.MethodPost, &api.StatusError{Code: http.StatusNotImplemented}).Code, "the node has no store")
	older := &api.StatusError{Code: http.StatusNotFound, Text: `no such path: "/v1/kv/session"`}
	require.Equal(t, cli.ExitWrong, kvError(http.MethodPost, older).Code, "that is no key that is missing")
}

// A write whose answer could not be printed is carried out: a code that means no would be wrong.
func TestAnUnprintedAnswerIsNoRefusal(t *testing.T) {
	full := errors.New("no space left on device")
	print := func(method string) error {
		return printStore(&cobra.Command{}, method, nil, &api.KVWrite{}, func(io.Writer) error { return full })
	}
	err := print(http.MethodPost)
	require.ErrorIs(t, err, full)
	require.ErrorContains(t, err, "the command is carried out, but its answer could not be written: no space")
	var exit *cli.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, exitUnknown, exit.Code)
	require.Equal(t, full, print(http.MethodGet))
}

// A page of conflicts that leaves some out says so.
func TestMoreConflictsThanAPage(t *testing.T) {
	page := api.KVConflicts{More: true, Conflicts: []api.KVConflict{{ID: "00c0ffee00c0ffee.1", Key: "colour", Value: "Ymx1ZQ=="}}}
	code, out, stderr := invoke("--addr", storeThat(t, http.StatusOK, map[string]any{"conflicts": page}), "kv", "conflicts")
	require.Equal(t, 0, code)
	require.Contains(t, out, "colour")
	require.Contains(t, stderr, "failaware: there are more: resolve some of these, or name a PREFIX\n")
}

// The deviation of a conflict's time is rounded up: a bound that is shown as less is none.
func TestDeviationsOfConflictsAreRoundedUp(t *testing.T) {
	deviation := int64(123_456_001)
	var text strings.Builder
	require.NoError(t, conflictsText(&text, &api.KVConflicts{Conflicts: []api.KVConflict{{Key: "k", DeviationNS: &deviation}}}))
	require.Contains(t, text.String(), "±123.5ms")
}
