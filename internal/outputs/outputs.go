// Package outputs serves a node's time to other programs: as an NTP server, and in a
// shared-memory segment for clients of ClockBound.
package outputs

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/clocksync/clockbound"
	"github.com/failaware/failaware/clocksync/ntpserver"
	"github.com/failaware/failaware/clocksync/serve"
)

// Config says which outputs there are.
type Config struct {
	Listen string // of the NTP server; empty: none
	NTP    ntpserver.Options
	Path   string // of the segment; empty: none
	Bound  clockbound.Options
}

// Outputs are the running outputs. The zero value has none.
type Outputs struct {
	ntp     *ntpserver.Server
	segment *clockbound.Writer
}

// Start starts the outputs of a source, which must be ready to answer.
func Start(ctx context.Context, c Config, source serve.Source) (o Outputs, err error) {
	if c.Listen != "" {
		if o.ntp, err = ntpserver.Listen(c.Listen, source, c.NTP); err != nil {
			return Outputs{}, fmt.Errorf("NTP.Listen: %w", err)
		}
	}
	if c.Path != "" {
		if o.segment, err = clockbound.Create(ctx, c.Path, source, c.Bound); err != nil {
			return Outputs{}, errors.Join(fmt.Errorf("ClockBound.Path: %w", err), o.Close())
		}
	}
	return o, nil
}

// Close ends the outputs.
func (o Outputs) Close() (err error) {
	if o.segment != nil {
		err = o.segment.Close()
	}
	if o.ntp != nil {
		err = errors.Join(err, o.ntp.Close())
	}
	return err
}

// NTP returns the NTP server, or nil.
func (o Outputs) NTP() *ntpserver.Server { return o.ntp }

// Addr returns the address of the NTP server, which is not valid if there is none.
func (o Outputs) Addr() netip.AddrPort {
	if o.ntp == nil {
		return netip.AddrPort{}
	}
	return o.ntp.Addr()
}

// Watch logs where the NTP server is, and its counts when it has ended. If it ends
// before stop is closed, the node goes on. Watch runs in a goroutine of its own.
func (o Outputs) Watch(stop <-chan struct{}, log hclog.Logger) {
	if o.ntp == nil {
		return
	}
	log.Info("NTP server", "address", o.ntp.Addr())
	select {
	case <-stop:
	case <-o.ntp.Done():
		if err := o.ntp.Close(); err != nil {
			log.Error("the NTP server has ended", "error", err)
		}
	}
	c := o.ntp.Stats()
	log.Info("NTP server ended", "requests", c.Requests, "answered", c.Answered, "unsynchronized", c.Unsynchronized,
		"kisses", c.Kisses, "limited", c.LimitedSource+c.LimitedAll, "malformed", c.BadLength+c.BadMode+c.BadVersion)
}
