package reference

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/ntptest"
)

// counting is a context that counts the functions that wait for its end.
type counting struct {
	context.Context
	waiting int
}

// Value hides the context inside, which package context would ask otherwise.
func (c *counting) Value(any) any { return nil }

func (c *counting) AfterFunc(f func()) func() bool {
	c.waiting++
	stop := context.AfterFunc(c.Context, f)
	return func() bool { c.waiting--; return stop() }
}

// What a poll leaves to the end of its context lasts as long as the node.
func TestPollLeavesNothingBehind(t *testing.T) {
	s := serverAt(t, ntptest.Start(t, ntptest.Behaviour{}).AddrPort())
	parent, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx := &counting{Context: parent}
	for range 20 {
		_, err := s.poll(ctx)
		require.NoError(t, err)
	}
	require.Zero(t, ctx.waiting)
}

// A server that denies service is asked no more, also before its name is looked up again.
func TestAServerThatDeniesIsAskedOnce(t *testing.T) {
	deny := ntptest.Start(t, ntptest.Behaviour{Kiss: "DENY"})
	s := serverAt(t, deny.AddrPort())
	for range 5 {
		_, err := s.poll(t.Context())
		require.Error(t, err)
	}
	require.Equal(t, 1, deny.Asked())
}
