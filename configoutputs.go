package failaware

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/failaware/failaware/clocksync/ntpserver"
)

// NTPConfig configures the NTP server of a node; see package
// [github.com/failaware/failaware/clocksync/ntpserver].
type NTPConfig struct {
	// Listen is the UDP address, as in "192.0.2.7:123". Answers are not authenticated, so
	// an address other than loopback needs [Config.Insecure].
	Listen string
	// Stratum is the server's stated distance from a primary clock, 1 to 15. Zero means
	// 4. It should be the same everywhere in the group.
	Stratum uint8
	// PerSource limits the answers to one address, and Total those to all. Zero means 8
	// a second after a burst of 32, and 20,000 a second after 2,000.
	PerSource, Total ntpserver.Limit
}

// ClockBoundConfig configures the shared-memory segment for version 2 clients of
// ClockBound; see package [github.com/failaware/failaware/clocksync/clockbound].
type ClockBoundConfig struct {
	// Path is the segment's file. Clients look at /var/run/clockbound/shm0 by default.
	// The last directory is made if it is missing from /run or /var/run.
	Path string
	// MaxSlew is how fast CLOCK_REALTIME is slewed at most by the program that
	// disciplines it, in parts per billion. Zero means 500,000, the kernel's own rate;
	// for chrony it must be its maxslewrate, 83,333,000 by default.
	MaxSlew int64
}

// ErrServeTime is matched by the error of [Start] when the NTP server or the
// segment of [Config.ClockBound] cannot be started; the text says why.
var ErrServeTime = errors.New("failaware: time cannot be served to other programs")

// options returns the options of the server.
func (c *NTPConfig) options(group string) ntpserver.Options {
	return ntpserver.Options{Stratum: c.Stratum, ReferenceID: referenceID(group), PerSource: c.PerSource, Total: c.Total}
}

// referenceID names the source of time of a group's nodes. It is the same for all: they
// follow each other, so a client that asks two of them has one opinion and not two.
func referenceID(group string) uint32 {
	h := sha256.Sum256([]byte("failaware reference\x00" + group))
	return binary.BigEndian.Uint32(h[:])
}
