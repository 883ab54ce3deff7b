package failaware

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/event"
)

// lines is a writer that keeps what is written.
type lines struct {
	mu   sync.Mutex
	text string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text += string(b)
	return len(b), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text
}

func TestANodeLogsToASlogHandler(t *testing.T) {
	var out lines
	n := startNode(t, Config{ID: 1, Name: "alpha", LogHandler: slog.NewTextHandler(&out, nil)})
	waitElected(t, n)
	eventually(t, "the event in the log", func() bool {
		return strings.Contains(out.String(), `level=INFO msg="this node leads" logger=alpha event=elected sequence=`)
	})
	require.NoError(t, n.Close())
	require.NotContains(t, out.String(), "level=DEBUG", "the handler chooses the levels")
}

func TestLevelsOfSlog(t *testing.T) {
	var out lines
	c := Config{LogHandler: slog.NewTextHandler(&out, &slog.HandlerOptions{Level: levelTrace})}
	l := c.logger().Named("x").With("a", 1)
	l.Trace("one")
	l.Error("two", "b", time.Second)
	require.Regexp(t, `level=DEBUG-4 msg=one logger=x a=1\n.*level=ERROR msg=two logger=x a=1 b=1s`, out.String())
}

func TestOneLogAtMost(t *testing.T) {
	_, err := Config{ID: 1, Logger: hclog.NewNullLogger(), LogHandler: slog.DiscardHandler}.Validate()
	require.ErrorContains(t, err, "LogHandler: there is a Logger too")
	_, err = Config{ID: 1, LogHandler: slog.DiscardHandler}.WithDefaults().Validate()
	require.NoError(t, err)
}

// What is probably a mistake stands in the log of each node that starts.
func TestWarningsAreLogged(t *testing.T) {
	var out lines
	cfg := Config{ID: 1, Quorum: system(t, "majority:2,3,4"), Clock: ClockConfig{MaxSlew: 1}, LogHandler: slog.NewTextHandler(&out, nil)}
	n := startNode(t, cfg)
	all := n.Config().Warnings()
	require.Len(t, all, 2)
	for _, w := range all {
		field, _, _ := strings.Cut(w, " ")
		require.Contains(t, out.String(), `level=WARN msg="`+field)
	}
}

// A process that is started again and again with the id of a peer is named once a minute.
func TestDuplicatesAreLoggedOnceAMinute(t *testing.T) {
	var d duplicates
	start := time.Unix(0, 0)
	named := func(peer NodeID, after time.Duration) hclog.Level {
		return d.level(event.PeerDuplicated{Peer: peer}, hclog.Warn, start.Add(after))
	}
	require.Equal(t, hclog.Warn, named(2, 0))
	require.Equal(t, hclog.Debug, named(2, 5*time.Second))
	require.Equal(t, hclog.Warn, named(3, 5*time.Second), "another peer")
	require.Equal(t, hclog.Debug, named(2, 59*time.Second))
	require.Equal(t, hclog.Warn, named(2, time.Minute))
	for range 2 {
		require.Equal(t, hclog.Info, d.level(event.PeerRestarted{Peer: 2}, hclog.Info, start))
	}
}
