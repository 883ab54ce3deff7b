package reference

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"os"
	"strings"

	"github.com/failaware/failaware/clocksync"
)

// identify returns the id of a reference: the same wherever the same one is
// asked, so that it has one voice however many nodes ask it. What is local to a
// machine is told apart by the machine.
func identify(kind, what string) clocksync.SourceID {
	sum := sha256.Sum256([]byte("failaware reference\x00" + kind + "\x00" + what))
	return clocksync.SourceID(max(binary.BigEndian.Uint64(sum[:8]), 1))
}

func identifyServer(a netip.AddrPort) clocksync.SourceID {
	ip := a.Addr().Unmap()
	what := netip.AddrPortFrom(ip, a.Port()).String()
	if ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		what += " at " + machine()
	}
	return identify("ntp", what)
}

// machine tells machines apart, and not the containers of one, which share its
// clocks.
func machine() string {
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(b))
	}
	name, _ := os.Hostname()
	return name
}
