package main

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/failaware/failaware/sim"
)

// broadcastFlag switches the broadcast of simulated nodes on. The pointer is what
// the options take: the flag has no more to say, the seed draws the rest.
type broadcastFlag struct{ on *sim.Broadcast }

func (b *broadcastFlag) register(fl *pflag.FlagSet) {
	fl.BoolFunc("broadcast", "switch the atomic broadcast on, with random messages, bursts and slow applications", b.set)
}

// set takes the flag's value.
func (b *broadcastFlag) set(value string) error {
	on, err := strconv.ParseBool(value)
	if b.on = nil; on {
		b.on = &sim.Broadcast{}
	}
	return err
}

// replay returns what the command that replays a run says about the broadcast.
func (b *broadcastFlag) replay() string {
	if b.on == nil {
		return ""
	}
	return " --broadcast"
}
