package reference

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/failaware/failaware/clocksync"
)

// Config describes one reference. Exactly one of NTP, KernelClock and PHC is set.
type Config struct {
	// NTP is a server, "HOST" or "HOST:PORT".
	NTP string
	// KernelClock selects the clock of this machine's kernel. It is used while a
	// program such as chronyd, ntpd or phc2sys disciplines it, with the maximum error
	// that this program reports to the kernel.
	KernelClock bool
	// PHC is the device of a PTP hardware clock, such as /dev/ptp0.
	PHC string

	// Poll is the mean time between two polls. Zero means 16 s for NTP and 1 s for
	// local clocks.
	Poll time.Duration
	// Offset is the time of the PHC minus UTC. It is 37 s since 2017 for a PHC that
	// keeps TAI, as ptp4l makes it do.
	Offset time.Duration
	// Error is the largest error of the PHC, which does not report one itself. Zero
	// means 1 ms.
	Error time.Duration
}

// Limits and defaults.
const (
	DefaultNTPPoll   = 16 * time.Second
	DefaultLocalPoll = time.Second
	DefaultPHCError  = time.Millisecond
	// MinPoll and MaxPoll bound the time between two polls. A reference counts from one to the
	// next ([clocksync.SampleLife]), so that falsetickers are found among all of them.
	MinPoll = time.Second
	MaxPoll = 512 * time.Second
	// MaxConfigs is the largest number of references of a node.
	MaxConfigs = 16

	ntpPort = "123"
)

// Name returns a readable name of the reference, "none" of the zero Config.
func (c Config) Name() string {
	switch {
	case c.NTP != "":
		return "ntp " + c.NTP
	case c.KernelClock:
		return "kernel"
	case c.PHC != "":
		return "phc " + c.PHC
	}
	return "none"
}

// Validate returns an error that names an invalid field.
func (c Config) Validate() error {
	kinds := 0
	for _, set := range []bool{c.NTP != "", c.KernelClock, c.PHC != ""} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New("exactly one of NTP, KernelClock and PHC must be set")
	case c.Poll != 0 && (c.Poll < MinPoll || c.Poll > MaxPoll):
		return fmt.Errorf("field Poll: %v is outside [%v, %v]", c.Poll, MinPoll, MaxPoll)
	case c.PHC == "" && (c.Offset != 0 || c.Error != 0):
		return errors.New("fields Offset and Error require a PHC")
	case c.Error < 0 || c.Error > clocksync.MaxError:
		return fmt.Errorf("field Error: %v is outside (0, %v]", c.Error, clocksync.MaxError)
	case c.Offset.Abs() > time.Hour:
		return fmt.Errorf("field Offset: %v is outside ±%v", c.Offset, time.Hour)
	}
	if c.NTP == "" {
		return nil
	}
	host, port, err := splitServer(c.NTP)
	if err != nil {
		return err
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return fmt.Errorf("%q: port %q is not a number from 1 to 65535", c.NTP, port)
	}
	if host == "" || strings.ContainsAny(host, " /\\") {
		return fmt.Errorf("%q: a host is needed", c.NTP)
	}
	return nil
}

// splitServer splits "HOST" or "HOST:PORT".
func splitServer(s string) (host, port string, err error) {
	bare := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if !strings.Contains(s, ":") || net.ParseIP(bare) != nil {
		return bare, ntpPort, nil
	}
	host, port, err = net.SplitHostPort(s)
	if err != nil {
		return "", "", fmt.Errorf("%q is neither HOST nor HOST:PORT", s)
	}
	return host, port, nil
}

// interval returns the configured mean time between two polls.
func (c Config) interval() time.Duration {
	switch {
	case c.Poll != 0:
		return c.Poll
	case c.NTP != "":
		return DefaultNTPPoll
	}
	return DefaultLocalPoll
}
