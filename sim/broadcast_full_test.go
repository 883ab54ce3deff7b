package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/sim/fault"
)

// manyWhileOneStalls sends so many small messages with stamps, while one member stalls, that the
// decisions which wait for its clock fill the log. When the network is healed, all are delivered.
func manyWhileOneStalls(seed uint64) error {
	cfg := broadcast.Config{}
	c, err := CaseOf(seed, Options{Nodes: 3, Calm: true, Duration: 4 * time.Second, Broadcast: &Broadcast{Config: &cfg}})
	if err != nil {
		return err
	}
	t := c.Schedule.Traffic
	t.Rate, t.Mix, t.Largest, t.Hush = 0.5, []broadcast.Options{{Order: broadcast.TimedOrder, Atomicity: broadcast.WeakAtomicity}}, 20, false
	faults := []fault.Fault{{At: time.Second, Kind: fault.Stall, Node: 2, For: 45 * time.Millisecond}}
	for i := range 2000 {
		faults = append(faults, fault.Fault{At: time.Second + time.Duration(i)*20*time.Microsecond, Kind: fault.Burst, Node: 1, Size: 1})
	}
	c.Schedule.Faults = append(faults, fault.Fault{At: 1500 * time.Millisecond, Kind: fault.Heal, For: 2 * time.Second})
	w, err := c.World()
	if err != nil {
		return err
	}
	return w.Run(4 * time.Second)
}

func TestManyMessagesWhileOneMemberStalls(t *testing.T) {
	for seed := range uint64(5) {
		require.NoError(t, manyWhileOneStalls(1+seed), "seed %d", 1+seed)
	}
}
