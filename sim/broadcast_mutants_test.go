//go:build mutants

package sim

import (
	"fmt"
)

// The worlds with a broadcast that the table of planted bugs names.
func init() {
	for name, opt := range map[string]Options{
		"broadcast":       {Broadcast: &Broadcast{}},
		"broadcast-rough": {Roughness: 4, Broadcast: &Broadcast{}},
	} {
		worlds[name] = world{play: mayPanic(campaign), opt: opt}
	}
	for name, play := range map[string]func(uint64) error{
		"broadcast-cut":       broadcastAroundACut,
		"broadcast-fragments": broadcastFragments,
		"broadcast-slow":      broadcastSlowConsumer,
	} {
		worlds[name] = scenario(mayPanic(func(seed uint64, _ Options) error { return play(seed) }))
	}
}

// mayPanic takes a panic for what it is: a machine whose state a bug has made
// impossible.
func mayPanic(play func(uint64, Options) error) func(uint64, Options) error {
	return func(seed uint64, opt Options) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("seed %d: panic: %v", seed, r)
			}
		}()
		return play(seed, opt)
	}
}
