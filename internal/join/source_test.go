package join

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSources(t *testing.T) {
	for text, want := range map[string]Source{
		"127.0.0.1:7001":             {Kind: Address, Host: "127.0.0.1", Port: 7001, Addr: netip.MustParseAddrPort("127.0.0.1:7001")},
		"[::1]:7001":                 {Kind: Address, Host: "::1", Port: 7001, Addr: netip.MustParseAddrPort("[::1]:7001")},
		"seed.example.org:7001":      {Kind: Name, Host: "seed.example.org", Port: 7001},
		"srv:_failaware._udp.a.org":  {Kind: Service, Host: "_failaware._udp.a.org"},
		"file:/etc/failaware/nodes":  {Kind: File, Path: "/etc/failaware/nodes"},
		"multicast":                  {Kind: Multicast, Addr: DefaultGroup},
		"multicast:239.1.2.3:5000":   {Kind: Multicast, Addr: netip.MustParseAddrPort("239.1.2.3:5000")},
		"[::ffff:192.0.2.1]:7001":    {Kind: Address, Host: "::ffff:192.0.2.1", Port: 7001, Addr: netip.MustParseAddrPort("192.0.2.1:7001")},
		"failaware.default.svc:7000": {Kind: Name, Host: "failaware.default.svc", Port: 7000},
	} {
		want.Text = text
		s, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, s)
	}
}

func TestWrongSourcesAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "it is empty",
		"seed":                      `"seed" is none of HOST:PORT, srv:NAME, file:PATH and multicast`,
		"seed:x":                    `"seed:x": the port is not a number`,
		"seed:0":                    `"seed:0": nobody listens at port 0`,
		":7000":                     `":7000": the host is missing`,
		"0.0.0.0:7000":              `"0.0.0.0:7000" is not the address of a node`,
		"239.1.2.3:7000":            `"239.1.2.3:7000" is not the address of a node`,
		"srv:":                      `"srv:" names no service`,
		"srv:a.example.org:7000":    "the DNS says the port",
		"file:":                     `"file:" names no file`,
		"multicast:192.0.2.1:7000":  "is not the address and port of a multicast group",
		"multicast:[ff02::1]:7000":  "is not the address and port of a multicast group",
		"multicast:239.1.2.3":       "is not the address and port of a multicast group",
		strings.Repeat("x", 600):    "600 bytes are more than 512",
		"2=127.0.0.1:7002 and more": "the port is not a number",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}
