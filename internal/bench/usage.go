package bench

import (
	"runtime"
	"strings"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/timed"
)

// usage is the usage of a process since its start.
type usage struct {
	At          timed.Instant
	CPU         time.Duration // user and system
	System      time.Duration // part of CPU
	Sent, Got   uint64        // packets
	Dropped     uint64        // received packets that did not count
	Resident    int64         // bytes; now
	Switches    uint64        // voluntary context switches
	Collections uint32        // of garbage
	Allocated   uint64        // bytes
}

// measureUsage takes the usage of this process, which runs one node.
func measureUsage(n *failaware.Node) (*usage, error) {
	u := new(usage)
	status := n.Status()
	for _, c := range status.Counters {
		switch c.Name {
		case "sent_packets":
			u.Sent = c.Value
		case "received_packets":
			u.Got = c.Value
		}
		if strings.HasPrefix(c.Name, "dropped_") {
			u.Dropped += c.Value
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u.Collections, u.Allocated = m.NumGC, m.TotalAlloc
	if err := u.ofProcess(); err != nil {
		return nil, err
	}
	return u, nil
}
