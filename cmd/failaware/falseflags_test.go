package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// A flag that is false asks for the same as none.
func TestFalseFlagsAskForNothing(t *testing.T) {
	t.Parallel()
	node := newAnswerer(t)
	requests := func(line string) string {
		var mu sync.Mutex
		var came []string
		node.code(t, line, func(w http.ResponseWriter, q *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			came = append(came, q.Method+" "+mayWait.ReplaceAllString(q.URL.RequestURI(), "$1"))
			_, _ = io.WriteString(w, `{"up_to_date":true}`)
		})
		mu.Lock()
		defer mu.Unlock()
		require.NotEmpty(t, came, line)
		return strings.Join(came, "\n")
	}
	tried := 0
	for _, line := range orders {
		cmd, _, err := program.Root().Find(strings.Fields(line))
		require.NoError(t, err)
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Value.Type() != "bool" || f.Name == "help" || strings.Contains(line, "--") || strings.HasPrefix(line, "wait ") {
				return
			}
			require.Equal(t, requests(line), requests(line+" --"+f.Name+"=false"), "%s --%s=false", line, f.Name)
			tried++
		})
	}
	require.NotZero(t, tried)
}
