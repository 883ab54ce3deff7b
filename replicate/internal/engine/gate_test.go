package engine

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// unwoken has readers of many gates leave while a writer begins to wait for them, one after the
// other. It returns how often nobody has told the writer.
func unwoken(t *testing.T) (times int) {
	synctest.Test(t, func(t *testing.T) {
		var gates [10_000]*gate
		for n := range gates {
			gates[n] = newGate()
			gates[n].rLock()
		}
		var at atomic.Int64 // the gate that the writer has come to
		go func() {
			for n, g := range gates {
				at.Store(int64(n))
				g.lock()
				g.unlock()
			}
			at.Store(int64(len(gates)))
		}()
		comes := func(n int) {
			for range 100_000 {
				if at.Load() == int64(n) {
					return
				}
			}
			if synctest.Wait(); at.Load() < int64(n) {
				times++
				signal(gates[n-1].left)
				synctest.Wait()
			}
		}
		random, spun := rand.New(rand.NewPCG(1, 2)), 0
		for n, g := range gates {
			comes(n)
			for range random.IntN(500) {
				spun++
			}
			g.rUnlock()
		}
		comes(len(gates))
	})
	return times
}

func TestWritersHearThatReadersHaveLeft(t *testing.T) { require.Zero(t, unwoken(t)) }
