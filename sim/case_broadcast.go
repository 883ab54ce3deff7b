package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/timed"
)

// trafficFile is the traffic of a case in its file. A case without it has no
// broadcast, as the cases of before there was one.
type trafficFile struct {
	Window        int      `json:"window"`
	MaxMessages   int      `json:"max_messages"`
	MaxPayload    int      `json:"max_payload"`
	PacketBytes   int      `json:"packet_bytes"`
	Backlog       int      `json:"backlog"`
	SlowAfter     span     `json:"slow_after"`
	RequireQuorum idList   `json:"require_quorum,omitempty"`
	Rate          float64  `json:"rate"`
	Largest       int      `json:"largest"`
	Hush          bool     `json:"hush,omitempty"`
	Mix           []string `json:"mix"` // "total strict"
}

func trafficToFile(t *Traffic) *trafficFile {
	if t == nil {
		return nil
	}
	c := t.Config.WithDefaults()
	f := &trafficFile{Window: c.Window, MaxMessages: c.MaxMessages, MaxPayload: c.MaxPayload, PacketBytes: c.PacketBytes,
		Backlog: c.Backlog, SlowAfter: span(c.SlowAfter), RequireQuorum: idList(c.RequireQuorum), Rate: t.Rate, Largest: t.Largest, Hush: t.Hush}
	for _, o := range t.Mix {
		f.Mix = append(f.Mix, o.Order.String()+" "+o.Atomicity.String())
	}
	return f
}

func (f *trafficFile) traffic() (*Traffic, error) {
	t := &Traffic{Rate: f.Rate, Largest: f.Largest, Hush: f.Hush, Config: broadcast.Config{Window: f.Window, MaxMessages: f.MaxMessages,
		MaxPayload: f.MaxPayload, PacketBytes: f.PacketBytes, Backlog: f.Backlog, SlowAfter: time.Duration(f.SlowAfter),
		RequireQuorum: timed.Set(f.RequireQuorum)}}
	for _, text := range f.Mix {
		o, err := parseOptions(text)
		if err != nil {
			return nil, err
		}
		t.Mix = append(t.Mix, o)
	}
	return t, t.Validate()
}

// parseOptions reads what a message asks for: an order and an atomicity.
func parseOptions(text string) (broadcast.Options, error) {
	for _, o := range allOptions() {
		if order, atomicity, ok := strings.Cut(text, " "); ok && order == o.Order.String() && atomicity == o.Atomicity.String() {
			return o, nil
		}
	}
	return broadcast.Options{}, fmt.Errorf("sim: mix: %q: must be an order and an atomicity, such as %q", text,
		broadcast.TotalOrder.String()+" "+broadcast.StrictAtomicity.String())
}

// readTraffic gives a case the traffic of its file.
func (c *Case) readTraffic(f *trafficFile) (err error) {
	if f != nil {
		c.Options.Broadcast = &Broadcast{}
		c.Schedule.Traffic, err = f.traffic()
	}
	return err
}

// validateTraffic reports a case whose options and schedule do not fit.
func (c *Case) validateTraffic() error {
	switch t := c.Schedule.Traffic; {
	case t == nil && c.Options.Broadcast == nil:
		return nil
	case t == nil:
		return fmt.Errorf("sim: the option Broadcast needs Traffic in the schedule of a case")
	case c.Options.Broadcast == nil:
		return fmt.Errorf("sim: Traffic in the schedule of a case needs the option Broadcast")
	default:
		return t.Validate()
	}
}
