package engine

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func never() bool { return false }

// overlapping has readers that overlap keep an application busy, each for a time and then at once
// again. A writer should get its turn after a few of these times. It returns those for which it did not.
func overlapping(t *testing.T) (late []time.Duration) {
	const readers = 8
	for _, hold := range []time.Duration{time.Millisecond, 15 * time.Millisecond, 25 * time.Millisecond, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			e := idle(t)
			var stop atomic.Bool
			var all sync.WaitGroup
			for i := range readers {
				all.Go(func() {
					time.Sleep(time.Duration(i) * hold / readers)
					for !stop.Load() {
						e.Read(func() { time.Sleep(hold) })
					}
				})
			}
			time.Sleep(10 * hold)
			began, wrote := time.Now(), make(chan time.Time)
			go func() {
				e.appMu.lock()
				e.appMu.unlock()
				wrote <- time.Now()
			}()
			all.Go(func() {
				time.Sleep(100 * hold)
				stop.Store(true)
			})
			if (<-wrote).Sub(began) > 4*hold+2*courtesy {
				late = append(late, hold)
			}
			all.Wait()
		})
	}
	return late
}

func TestReadersThatOverlapLetAWriterPass(t *testing.T) { require.Empty(t, overlapping(t)) }

// within has a reader read again, many times and deeply, while a writer waits for it: at once, if it
// does so itself, and soon, if other goroutines do for which it waits. It returns what took longer.
func within(t *testing.T) (longer []string) {
	synctest.Test(t, func(t *testing.T) {
		e, wrote := idle(t), make(chan struct{})
		reads := 0
		e.Read(func() {
			go func() {
				e.appMu.lock()
				e.appMu.unlock()
				close(wrote)
			}()
			time.Sleep(time.Second)
			began := time.Now()
			for range 100 {
				deeply(100, func() { e.Read(func() { e.Read(func() { reads++ }) }) })
			}
			if time.Since(began) > 0 {
				longer = append(longer, "by itself")
			}
			began = time.Now()
			for range 100 {
				done := make(chan struct{})
				go e.Read(func() { close(done) })
				<-done
			}
			if time.Since(began) > 100*2*courtesy {
				longer = append(longer, "by other goroutines")
			}
		})
		<-wrote
		require.Equal(t, 100, reads)
	})
	return longer
}

func TestReadersReadAgainWhileAWriterWaits(t *testing.T) { require.Empty(t, within(t)) }

// unwoken has readers of many gates leave while a writer begins to wait for them, one after the
// other. It returns how often nobody has told the writer.
func unwoken(t *testing.T) (times int) {
	synctest.Test(t, func(t *testing.T) {
		var gates [10_000]*gate
		for n := range gates {
			gates[n] = newGate()
			gates[n].rLock(never)
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
			g.rUnlock(time.Time{})
		}
		comes(len(gates))
	})
	return times
}

func TestWritersHearThatReadersHaveLeft(t *testing.T) { require.Zero(t, unwoken(t)) }
