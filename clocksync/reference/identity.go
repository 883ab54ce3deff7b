package reference

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"os"
	"strings"

	"github.com/failaware/failaware/clocksync"
)

// identify returns the id of a reference. All nodes compute the same id for the same
// reference, so that it counts once however many nodes poll it. The ids of local
// clocks depend on the machine.
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

// machine identifies this machine. Containers on one machine share its clocks and
// therefore its identity.
func machine() string {
	if b, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return strings.TrimSpace(string(b))
	}
	name, _ := os.Hostname()
	return name
}
