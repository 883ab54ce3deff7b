//go:build unix

package main

import (
	"fmt"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// Three processes that are started together with one address meet in one view. The log of
// the test says after what time.
func TestThreeProcessesWithOneSeedMeet(t *testing.T) {
	addrs, err := clitest.FreeAddresses(1)
	require.NoError(t, err)
	dir, began := t.TempDir(), time.Now()
	socket := func(id int) string { return filepath.Join(dir, fmt.Sprint(id)) }
	for id := 1; id <= 3; id++ {
		listen := "127.0.0.1:0"
		if id == 3 {
			listen = addrs[0]
		}
		clitest.Start(t, fmt.Sprintf("failaware node --id %d --listen %s --api %s --join %s", id, listen, socket(id), addrs[0]))
	}
	for id := 1; id <= 3; id++ {
		for {
			if code, _, _ := invoke("--addr", socket(id), "wait", "view", "--members", "3", "--timeout", "10s"); code == 0 {
				break
			}
			require.Less(t, time.Since(began), clitest.LongEnough)
		}
	}
	t.Logf("one view of three processes %v after the start of the first", time.Since(began).Round(time.Millisecond))
}

// hasMulticast reports whether packets to a multicast group come back on the loopback
// interface.
func hasMulticast() bool {
	group := &net.UDPAddr{IP: net.IPv4(239, 255, 70, 67)}
	loopback := net.IPv4(127, 0, 0, 1)
	all, err := net.Interfaces()
	if err != nil {
		return false
	}
	for i := range all {
		if all[i].Flags&net.FlagLoopback == 0 {
			continue
		}
		in, err := net.ListenMulticastUDP("udp4", &all[i], group)
		if err != nil {
			return false
		}
		defer in.Close()
		out, err := net.ListenUDP("udp4", &net.UDPAddr{IP: loopback})
		if err != nil {
			return false
		}
		defer out.Close()
		_, err = out.WriteTo([]byte("hello"), in.LocalAddr())
		_ = in.SetReadDeadline(time.Now().Add(time.Second))
		n, _, readErr := in.ReadFromUDP(make([]byte, 9))
		return err == nil && readErr == nil && n == 5
	}
	return false
}
