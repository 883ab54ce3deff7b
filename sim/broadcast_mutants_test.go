//go:build mutants

package sim

import (
	"fmt"
	"time"
)

// The worlds of the broadcast that the table of kills names.
func init() {
	for name, opt := range map[string]castOptions{
		"broadcast":        {rage: 4 * time.Second},
		"broadcast-timed":  {rage: 4 * time.Second, timed: true},
		"broadcast-large":  {rage: 3 * time.Second, large: true},
		"broadcast-slow":   {rage: 4 * time.Second, slow: true, rate: 400},
		"broadcast-quorum": {rage: 4 * time.Second, quorum: true},
		"broadcast-long":   {rage: 8 * time.Second, nodes: 4, rate: 300},
	} {
		addCastWorld(name, castRun, opt)
	}
	addCastWorld("broadcast-cut", castAroundCut, castOptions{nodes: 3, lossless: true, rate: 200})
}

func addCastWorld(name string, play func(uint64, castOptions) error, opt castOptions) {
	w := worlds[name]
	w.play = func(seed uint64, _ Options) (err error) {
		defer func() { // a machine whose state a bug has made impossible may panic
			if r := recover(); r != nil {
				err = fmt.Errorf("seed %d: panic: %v", seed, r)
			}
		}()
		return play(seed, opt)
	}
	worlds[name] = w
}
