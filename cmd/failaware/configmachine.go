package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/awake"
	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/sockerr"
)

// checkMachine calls refused with the error of each directory, device and address that a node
// could not use if it were started here by this user. It changes nothing.
func (c *nodeConfig) checkMachine(refused func(key string, err error)) {
	if c.StateDir != "" {
		refused("state_dir", durable.CheckDir(c.StateDir))
	}
	if c.kvDir != "" {
		refused("kv.dir", durable.CheckDir(c.kvDir))
	}
	if c.ClockBound != nil {
		refused("clockbound.path", checkSegmentDir(filepath.Dir(c.segment.Path)))
	}
	if c.Awake {
		hold, err := awake.Hold()
		refused("awake", err)
		_ = hold.Close()
	}
	refused("listen", tryAddress("udp", c.Listen))
	if c.NTP != nil {
		refused("ntp.listen", tryAddress("udp", c.ntp.Listen))
	}
	refused("http", tryAddress("tcp", c.http))
	refused("api_listen", tryAddress("tcp", c.remote.listen))
	if c.tcpAPI() {
		refused("api", tryAddress("tcp", c.api))
	} else if addr, err := api.ParseAddress(c.api); err == nil && addr.Socket != "" && c.api != "none" {
		refused("api", api.CheckUnix(addr.Socket))
	}
}

// checkSegmentDir checks the directory of a segment of ClockBound, which a node makes below /run
// only.
func checkSegmentDir(dir string) error {
	if above := filepath.Dir(dir); above != "/run" && above != "/var/run" {
		if _, err := os.Stat(dir); err != nil {
			return err
		}
	}
	return durable.CheckDir(dir)
}

// firstFree is the first port that needs no permission.
const firstFree = 1024

// tryAddress returns the error of listening at an address, unless that has a name to look up, or
// another process listens there, which may be the very node. It takes any port if this user may
// take all, so that it is in nobody's way.
func tryAddress(network, addr string) error {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil
	}
	if at.Port() >= firstFree {
		at = netip.AddrPortFrom(at.Addr(), 0)
	}
	if network == "tcp" {
		l, e := net.ListenTCP(network, net.TCPAddrFromAddrPort(at))
		if err = e; e == nil {
			_ = l.Close()
		}
	} else {
		l, e := net.ListenUDP(network, net.UDPAddrFromAddrPort(at))
		if err = e; e == nil {
			_ = l.Close()
		}
	}
	switch errno := sockerr.Of(err); {
	case errno == syscall.EADDRINUSE:
		return nil
	case errno == syscall.EADDRNOTAVAIL:
		return errors.New(at.Addr().String() + " is no address of this machine")
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("a port below %d needs CAP_NET_BIND_SERVICE or root", firstFree)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
