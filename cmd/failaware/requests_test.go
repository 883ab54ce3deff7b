package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// orders are command lines that send requests to a node: all such commands, with all of their
// flags that may change a request.
var orders = []string{
	"status", "members", "view", "leave", "leave --forget", "leave --forget --force", "log-level debug",
	"leader", "leader --global", "leader resign", "leader resign --to 2", "leader verify 3", "leader find", "leader find --global",
	"clock", "clock sources", "why view", "why 3",
	"wait synced", "wait synced --bound 1ms", "wait synced --external", "wait leader", "wait leader --global", "wait view", "wait view --members 2", "wait store",
	"watch", "watch clock", "watch --since 7", "deliveries", "deliveries --follow", "deliveries --since 7",
	"broadcast hi", "broadcast --order timed --atomicity weak --wait hi", "broadcast -",
	"epoch show", "epoch change majority:1,2", "epoch change majority:1,2 --unheard", "epoch change majority:1 --force --dead 2",
	"edict create", "edict create --payload main.go",
	"keys list", "keys reload",
	"kv get a", "kv get a --local", "kv list", "kv list a --limit 5 --after ab --local", "kv list --all",
	"kv put a b", "kv put a - --lease 4ecd4828225a473d.12", "kv put a b --ttl 10s",
	"kv put a b --session 1/4ecd4828225a473d/o7 --number 3",
	"kv cas a b --version 17", "kv cas a b --version 17 --lease 4ecd4828225a473d.12", "kv cas a b --version 17 --ttl 10s",
	"kv cas a b --version 17 --session 1/4ecd4828225a473d/o7 --number 3",
	"kv delete a", "kv delete a --version 17", "kv delete a --session 1/4ecd4828225a473d/o7 --number 3",
	"kv lease grant 10s", "kv lease renew 4ecd4828225a473d.12", "kv lease revoke 4ecd4828225a473d.12", "kv lease show 4ecd4828225a473d.12",
	"kv session open", "kv session close 1/4ecd4828225a473d/o7",
	"kv status", "kv conflicts", "kv conflicts a --local", "kv resolve a 4ecd4828225a473d.12", "kv bootstrap",
	"kv watch", "kv watch a --current", "kv watch --since 7",
}

// apart are commands and flags that send nothing, that only change what is done with answers, or that
// have tests of their own.
var apart = []string{"completion", "config", "demo", "edict show", "edict verify", "keygen", "lock", "lock-exec", "lock-guard", "node",
	"keys install", "keys use", "keys remove", "kv import", "help",
	"clock --watch", "clock --every", "kv get --raw", "watch --count", "deliveries --count", "kv watch --count", "why --all"}

// mayWait matches the time for which a node may let a command of the store wait.
var mayWait = regexp.MustCompile(`([?&]wait=)[0-9.]+s`)

// Each command sends the requests in the file, and each flag has its place in one.
func TestRequestsOfCommands(t *testing.T) {
	var mu sync.Mutex
	var came []string
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(q.Body, 40))
		mu.Lock()
		defer mu.Unlock()
		after := ""
		if id := q.Header.Get("Last-Event-ID"); id != "" {
			after = "after " + id + " "
		}
		uri := mayWait.ReplaceAllString(q.URL.RequestURI(), "$1") // it has begun to run out
		came = append(came, strings.TrimSpace(fmt.Sprintf("%s %s %s%s", q.Method, uri, after, body)))
		_, _ = io.WriteString(w, `{"up_to_date":true,"accepting":true,"deviation_ns":1,"status":"external","members":[{"node":1},{"node":2}],"leader":1,"session":"1/4ecd4828225a473d/o9"}`)
	})
	socket := serveAt(t, mux)
	var b strings.Builder
	for _, line := range orders {
		mu.Lock()
		came = nil
		mu.Unlock()
		args := append([]string{"--addr", socket}, strings.Fields(line)...)
		_ = program.Run(t.Context(), args, strings.NewReader("from the input"), io.Discard, io.Discard)
		mu.Lock()
		fmt.Fprintf(&b, "\n%s\n\t%s\n", line, strings.Join(came, "\n\t"))
		require.NotEmpty(t, came, line)
		mu.Unlock()
	}
	requireTexts(t, "requests.txt", "Requests of commands.", b.String())
}

func TestRequestsAreOfAllCommands(t *testing.T) {
	root := program.Root()
	var used []string // commands, and commands with a flag
	for _, line := range orders {
		cmd, args, err := root.Find(strings.Fields(line))
		require.NoError(t, err, line)
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		used = append(used, path)
		for _, a := range args {
			if strings.HasPrefix(a, "--") {
				used = append(used, path+" "+a)
			}
		}
	}
	known := func(what string) bool {
		return slices.Contains(used, what) || slices.ContainsFunc(apart, func(x string) bool { return x == what || strings.HasPrefix(what, x+" ") })
	}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
		if cmd.RunE != nil && len(cmd.Commands()) == 0 || slices.Contains(used, path) {
			require.True(t, known(path), path)
			cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				require.True(t, f.Name == "help" || known(path+" --"+f.Name), "%s --%s", path, f.Name)
			})
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
	require.NotEmpty(t, used)
}
