package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/leader/edict"
)

// sampleValues are values of flags with which a command may be carried out.
var sampleValues = map[string]string{
	"after": "ab", "atomicity": "weak", "bound": "1ms", "count": "1", "dead": "2", "every": "1s", "lease": "4ecd4828225a473d.12", "limit": "5",
	"members": "2", "name": "disk", "number": "3", "order": "timed", "payload": "main.go", "session": "1/4ecd4828225a473d/o7", "since": "7",
	"state": "none/fence", "term-before": "0s", "to": "2", "token": "disk", "ttl": "10s", "version": "17",
}

// besideOrders are further command lines, whose flags are tried too. lock asks no node within its
// time.
func besideOrders() []string {
	e := edict.Edict{Epoch: 1, Counter: 2, Stamps: []edict.Stamp{{Node: 1, Counter: 1, Boot: 7, At: 9}}}
	return []string{"edict verify " + e.String(), "edict verify " + e.String() + " " + e.String(), "lock --timeout 1ms true", "kv cas a b"}
}

// triedFlags returns the flags of a command that are tried with a command line.
func triedFlags(t *testing.T, line string) (flags []string) {
	cmd, _, err := program.Root().Find(strings.Fields(line))
	require.NoError(t, err, line)
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || strings.Contains(line, "--"+f.Name+" ") {
			return
		}
		value, known := sampleValues[f.Name]
		require.True(t, known || f.Value.Type() == "bool", "a value of --%s is needed", f.Name)
		if !known {
			value = "true"
		}
		flags = append(flags, "--"+f.Name+"="+value)
	})
	return flags
}

// Flags of a command that have no meaning alone or together are refused, before any node is
// asked: the file says which, and how.
func TestFlagsThatAreRefusedTogether(t *testing.T) {
	t.Parallel()
	node := newAnswerer(t)
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"up_to_date":true,"deviation_ns":1,"utc_bound_ns":1,"status":"external","members":[{"node":1},{"node":2}],"session":"1/4ecd4828225a473d/o9"}`)
	})
	node.answer.Store(&answer)
	var b strings.Builder
	try := func(line string, flags ...string) (refused bool) {
		words := strings.Fields(line)
		at := slices.IndexFunc(words, func(w string) bool { return w == "true" }) // the command of lock has flags of its own
		if at < 0 {
			at = len(words)
		}
		args := append([]string{"--addr", node.socket}, slices.Insert(words, at, flags...)...)
		ctx := t.Context()
		if slices.Contains(flags, "--watch=true") {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			cancel() // it would not end
		}
		var out, problem clitest.Buffer
		if code := program.Run(ctx, args, strings.NewReader(""), &out, &problem); code != 2 {
			return false
		}
		text, _, _ := strings.Cut(problem.String(), "\n")
		fmt.Fprintf(&b, "\t%s\n\t\t%s\n", strings.Join(flags, " "), text)
		return true
	}
	for _, line := range append(slices.Clone(orders), besideOrders()...) {
		flags := triedFlags(t, line)
		if len(flags) == 0 || strings.Contains(line, " --") && slices.Contains(orders, line) && line != "kv cas a b --version 17" {
			continue // the same without the flags of the line
		}
		fmt.Fprintf(&b, "\n%s\n", line)
		for i, one := range flags {
			try(line, one)
			for _, other := range flags[:i] {
				try(line, other, one)
			}
		}
	}
	requireTexts(t, "flagpairs.txt", "Flags that commands refuse, alone or two together.", b.String())
}
