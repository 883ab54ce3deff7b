package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/api"
)

// answerer is a node whose answers are those of a function.
type answerer struct {
	socket string
	answer atomic.Pointer[http.HandlerFunc]
}

func newAnswerer(t *testing.T) *answerer {
	a := &answerer{}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) { (*a.answer.Load())(w, q) })
	a.socket = serveAt(t, mux)
	return a
}

// code runs a command whose requests are answered so, and returns the exit code.
func (a *answerer) code(t *testing.T, line string, answer http.HandlerFunc) int {
	a.answer.Store(&answer)
	args := append([]string{"--timeout", "1m", "--addr", a.socket}, strings.Fields(line)...)
	return program.Run(t.Context(), args, strings.NewReader("from the input"), io.Discard, io.Discard)
}

// verdicts are commands with the shapes of their answers. Of no other is the exit code about
// what the answer says, except of wait; status and members have many fields, and no verdict.
var verdicts = []struct {
	line  string
	shape reflect.Type
}{
	{"epoch show", reflect.TypeFor[api.Epoch]()}, {"leader", reflect.TypeFor[api.Leader]()}, {"leader --global", reflect.TypeFor[api.Global]()}, {"view", reflect.TypeFor[api.View]()},
	{"leader verify 3", reflect.TypeFor[api.Verification]()}, {"leader find", reflect.TypeFor[api.Verification]()},
	{"leader find --global", reflect.TypeFor[api.Verification]()}, {"clock", reflect.TypeFor[api.Clock]()},
	{"kv status", reflect.TypeFor[api.KVStatus]()}, {"kv conflicts", reflect.TypeFor[api.KVConflicts]()},
	{"kv get a", reflect.TypeFor[api.KVGet]()}, {"kv list", reflect.TypeFor[api.KVList]()}, {"kv lease show 4ecd4828225a473d.12", reflect.TypeFor[api.KVLease]()},
	{"kv resolve a 4ecd4828225a473d.12", reflect.TypeFor[api.KVWrite]()}, {"broadcast hi", reflect.TypeFor[api.Sent]()}, {"why view", reflect.TypeFor[api.Why]()},
}

// The exit code of a command that asks says yes or no, by the fields of the answer that the
// file names.
func TestExitCodesOfAnswers(t *testing.T) {
	t.Parallel()
	node := newAnswerer(t)
	var b strings.Builder
	for _, c := range verdicts {
		paths := fieldsOf(c.shape, nil)
		code := func(set ...int) int {
			x := reflect.New(c.shape)
			for _, i := range set {
				fill(x.Elem().FieldByIndex(paths[i]), nameOf(c.shape, paths[i]), 101+i)
			}
			answer, err := json.Marshal(x.Interface())
			require.NoError(t, err)
			return node.code(t, c.line, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) })
		}
		none, all := code(), code(upTo(len(paths), -1)...)
		fmt.Fprintf(&b, "\n%s: %d without fields, %d with all\n", c.line, none, all)
		for i, path := range paths {
			if alone := code(i); alone != none {
				fmt.Fprintf(&b, "\t%d with %s\n", alone, nameOf(c.shape, path))
			}
			if most := code(upTo(len(paths), i)...); most != all {
				fmt.Fprintf(&b, "\t%d with all but %s\n", most, nameOf(c.shape, path))
			}
		}
	}
	requireTexts(t, "answercodes.txt", "Exit codes of commands, by the fields that are set: those unlike the code of an empty answer.", b.String())
}

// statuses are those that a node or a proxy answers. The commands of the store tell more of
// them apart than others.
var (
	statuses        = []int{400, 409, 500, 501, 503}
	statusesOfStore = []int{400, 401, 403, 404, 409, 410, 413, 422, 500, 501, 502, 503, 504, 507}
)

// The exit code says what became of a command that a node refuses, by the status of the
// answer. A command of the store has opened its session before, or goes on with one. Of one
// that is sent again the session is gone then.
func TestExitCodesOfRefusals(t *testing.T) {
	t.Parallel()
	node := newAnswerer(t)
	var b strings.Builder
	for _, line := range orders {
		fmt.Fprintf(&b, "\n%s:", line)
		of := statuses
		if strings.HasPrefix(line, "kv ") {
			of = statusesOfStore
		}
		for _, status := range of {
			var sent atomic.Int64
			code := node.code(t, line, func(w http.ResponseWriter, q *http.Request) {
				switch {
				case strings.HasPrefix(q.URL.Path, "/v1/kv/session/") && !strings.HasPrefix(line, "kv session"):
					api.Answer(w, http.StatusOK, api.KVSession{Session: "1/4ecd4828225a473d/o9"})
				case sent.Add(1) > 1:
					api.Answer(w, http.StatusGone, api.Failure{Error: "forgotten"})
				default:
					api.Answer(w, status, api.Failure{Error: "refused"})
				}
			})
			fmt.Fprintf(&b, " %d=%d%s", status, code, strings.Repeat("+", int(min(sent.Load()-1, 1))))
		}
	}
	requireTexts(t, "refusalcodes.txt", "Exit codes of commands, by the status of the answer; + after those of commands that are sent again.", b.String()+"\n")
}
