package chaos

import (
	"runtime"
	"sync"
	"time"
)

// maxHog limits the duration of Hog.
const maxHog = 5 * time.Second

// Hog computes on all processors for a while.
func Hog(d time.Duration) {
	end := time.Now().Add(min(d, maxHog))
	var all sync.WaitGroup
	for range runtime.NumCPU() + 1 {
		all.Go(func() {
			for x := 1; time.Now().Before(end); x++ {
				for range 1000 {
					x = x*7 + 1
				}
			}
		})
	}
	all.Wait()
}
