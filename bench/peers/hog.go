package main

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// hog computes on some threads for a while: it is the process "hog THREADS DURATION".
func hog(args []string) error {
	var threads int
	if len(args) != 2 {
		return errors.New("hog THREADS DURATION")
	}
	if _, err := fmt.Sscan(args[0], &threads); err != nil || threads < 1 || threads > 64 {
		return fmt.Errorf("%q threads: 1 to 64 are possible", args[0])
	}
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(threads)
	end := time.Now().Add(d)
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for x := 1; time.Now().Before(end); {
				for range 10_000 {
					x = x*7 + 1
				}
			}
		})
	}
	all.Wait()
	return nil
}
