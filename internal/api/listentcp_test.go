package api

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListenTCPSaysWhatIsWrong(t *testing.T) {
	l, err := ListenTCP("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	taken := l.Addr().String()
	for addr, text := range map[string]string{
		taken:             "the address " + taken + " is in use",
		"192.0.2.1:7001":  "192.0.2.1:7001 is no address of this machine", // for documentation, RFC 5737
		"127.0.0.1:99999": `"127.0.0.1:99999" is not HOST:PORT: invalid port`,
		"127.0.0.1":       `"127.0.0.1" is not HOST:PORT: missing port in address`,
	} {
		_, err := ListenTCP(addr)
		require.EqualError(t, err, text)
	}
}
