package udp

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// addressesStay writes addresses in the form of the kernel for a packet that leaves, and reads
// them as those of one that has come. All of them are the same again, with their zones.
func addressesStay(t testing.TB) {
	interfaces, err := net.Interfaces()
	require.NoError(t, err)
	require.NotEmpty(t, interfaces)
	texts := []string{"192.0.2.7:7000", "127.0.0.1:65535", "[2001:db8::7]:1", "[fe80::7]:7000"}
	for _, i := range interfaces {
		texts = append(texts, "[fe80::7%"+i.Name+"]:7000")
	}
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		w, r := &sender{family: family}, &receiver{}
		for _, text := range texts {
			var name unix.RawSockaddrInet6
			want := netip.MustParseAddrPort(text)
			_, ok := w.setName(&name, want)
			require.Equal(t, family == unix.AF_INET6 || want.Addr().Is4(), ok, text)
			if ok {
				require.Equal(t, want, r.address(&name), text)
			}
		}
	}
}

func TestAddressesStayTheSame(t *testing.T) { addressesStay(t) }
