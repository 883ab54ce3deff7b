package pause

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGateHoldsTheLoopUntilItOpens(t *testing.T) {
	g, stopped := New(), make(chan struct{})
	turns := make(chan int)
	go func() {
		defer close(stopped)
		for i := 0; g.Pass(); i++ {
			select {
			case turns <- i:
			default:
			}
		}
	}()
	<-turns
	g.Shut(stopped)
	select {
	case <-turns:
		require.Fail(t, "a turn although the loop stands still")
	default:
	}
	g.Open()
	<-turns
	g.Shut(stopped)
	g.Kill()
	<-stopped
	g.Open()
	require.False(t, g.Pass(), "a killed loop stays killed")
	g.Shut(stopped) // there is no loop to wait for
}

func TestContextCarriesAGate(t *testing.T) {
	require.True(t, From(context.Background()).Pass())
	g := New()
	require.Same(t, g, From(With(context.Background(), g)))
}
