package reference

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

// twoAddresses is a resolver for which every name has two addresses.
func twoAddresses(t testing.TB) *net.Resolver {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(b[:n]) != nil {
				continue
			}
			m.Header.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				for _, last := range []byte{1, 2} {
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
						Body: &dnsmessage.AResource{A: [4]byte{192, 0, 2, last}}})
				}
			}
			out, err := m.Pack()
			if err == nil {
				_, _ = c.WriteTo(out, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", c.LocalAddr().String())
	}}
}

// A healthy address stays at the hourly lookup, wherever it is in the list: another one would be another source,
// and the samples of this one would end.
func healthyStays(t testing.TB) {
	former := net.DefaultResolver
	net.DefaultResolver = twoAddresses(t)
	t.Cleanup(func() { net.DefaultResolver = former })
	for _, text := range []string{"192.0.2.1:123", "192.0.2.2:123"} {
		a := netip.MustParseAddrPort(text)
		s := newServer(Config{NTP: "ntp.example.com"}, hardware(t), 0)
		s.addrs, s.looked = []netip.AddrPort{a}, time.Now().Add(-2*lookupPeriod)
		require.NoError(t, s.lookup(t.Context()))
		require.Len(t, s.addrs, 2)
		require.Equal(t, a, s.addrs[s.at%len(s.addrs)])
	}
}

func TestALookupKeepsAHealthyAddress(t *testing.T) { healthyStays(t) }
