package chaos

import (
	"sync"
	"sync/atomic"
	"time"
)

// lateness measures how late a sleeping goroutine wakes up.
type lateness struct {
	worst atomic.Int64
	end   chan struct{}
	once  sync.Once
}

func (l *lateness) run() {
	l.end = make(chan struct{})
	go func() {
		for {
			before := time.Now()
			time.Sleep(time.Millisecond)
			if late := int64(time.Since(before) - time.Millisecond); late > l.worst.Load() {
				l.worst.Store(late)
			}
			select {
			case <-l.end:
				return
			default:
			}
		}
	}()
}

// reset returns the worst lateness since the last reset.
func (l *lateness) reset() time.Duration { return time.Duration(l.worst.Swap(0)) }

func (l *lateness) stop() {
	l.once.Do(func() {
		if l.end != nil {
			close(l.end)
		}
	})
}
