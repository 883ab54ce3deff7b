package peers

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/timed"
)

func resolver(local string, insecure bool, list ...Peer) *Resolver {
	return NewResolver(Options{Self: 1, Local: netip.MustParseAddrPort(local), Insecure: insecure, Alive: func() timed.Set { return timed.Set{} },
		Changed: func() {}, Log: hclog.NewNullLogger().Log}, list)
}

func addresses(texts ...string) (list []netip.Addr) {
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

func TestAnotherListKeepsWhatIsKnown(t *testing.T) {
	r := resolver("127.0.0.1:7000", false, Peer{1, "127.0.0.1:7000"}, Peer{2, "127.0.0.1:7002"}, Peer{0, "127.0.0.1:7003"}, Peer{4, "localhost:7004"})
	first := *r.List()
	require.Len(t, first, 3, "the node itself is no peer")
	require.Equal(t, timed.NodeID(2), first[0].Node())
	require.Equal(t, "127.0.0.1:7002", first[0].Addr.String())
	require.Equal(t, timed.NoNode, first[1].Node())
	require.False(t, first[2].Addr.IsValid())
	require.Equal(t, "not looked up yet", first[2].Problem)

	first[1].Learn(3)
	r.Set([]Peer{{0, "127.0.0.1:7003"}})
	second := *r.List()
	require.Len(t, second, 1)
	require.Equal(t, timed.NodeID(3), second[0].Node())
	require.Len(t, first, 3, "lists are immutable")
}

// The present address stays while the name has it and the peer is heard there. A
// silent peer is looked for at the next address.
func TestTheAddressOfAName(t *testing.T) {
	r := resolver("0.0.0.0:7000", true)
	at := &target{port: 7}
	choose := func(silent bool, ips ...string) string {
		addr, problem := r.choose(at, addresses(ips...), silent)
		if problem != "" {
			return problem
		}
		at.addr = addr
		return addr.String()
	}
	require.Equal(t, "192.0.2.1:7", choose(true, "192.0.2.1", "192.0.2.2"))
	require.Equal(t, "192.0.2.1:7", choose(false, "192.0.2.2", "192.0.2.1"))
	require.Equal(t, "192.0.2.2:7", choose(true, "192.0.2.1", "192.0.2.2"))
	require.Equal(t, "192.0.2.1:7", choose(true, "192.0.2.1", "192.0.2.2"))
	require.Equal(t, "192.0.2.9:7", choose(false, "192.0.2.9"), "the name has moved")
	require.Equal(t, "192.0.2.9:7", choose(false, "::ffff:192.0.2.9"))
	require.Equal(t, "no address of the family of 0.0.0.0:7000", choose(false, "2001:db8::1"))

	r = resolver("127.0.0.1:7000", false)
	require.Equal(t, "192.0.2.1 is not a loopback address", choose(false, "192.0.2.1"))
	require.Equal(t, "127.0.0.2:7", choose(false, "192.0.2.1", "127.0.0.2"))
}

func TestNamesAreLookedUp(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	r := resolver("127.0.0.1:7000", false, Peer{2, "localhost:7002"})
	go r.Run(stop)
	for !(*r.List())[0].Addr.IsValid() {
		time.Sleep(time.Millisecond)
	}
	require.Equal(t, "127.0.0.1:7002", (*r.List())[0].Addr.String())
	require.Empty(t, (*r.List())[0].Problem)
}

// A lookup that fails leaves a peer where it was, for it may still be there, and says why.
func TestAFailedLookupKeepsTheAddress(t *testing.T) {
	r := resolver("127.0.0.1:7000", false, Peer{2, "no..name:7002"})
	r.targets[0].addr = netip.MustParseAddrPort("127.0.0.9:7002")
	r.lookUp(t.Context(), r.targets[0], true)
	entry := (*r.List())[0]
	require.Equal(t, "127.0.0.9:7002", entry.Addr.String())
	require.NotEmpty(t, entry.Problem)
}

// A name server that does not answer is the same problem at each lookup, though each comes from
// another port.
func TestTheSameProblemIsSaidOnce(t *testing.T) {
	r := resolver("127.0.0.1:7000", false, Peer{2, "two.example.org:7002"})
	lookup := func(from string) string {
		err := &net.DNSError{Name: "two.example.org", Server: "[::1]:53", Err: "read udp " + from + "->[::1]:53: read: connection refused"}
		return r.found(r.targets[0], nil, err, true)
	}
	require.Equal(t, "lookup two.example.org on [::1]:53: read udp [::1]:53: read: connection refused", lookup("[::1]:40372"))
	before := r.List()
	require.Empty(t, lookup("[::1]:40373"))
	require.Same(t, before, r.List())
}

// Names of silent peers are looked up more often.
func TestWhenNamesAreDue(t *testing.T) {
	r := resolver("127.0.0.1:7000", false, Peer{2, "a.localhost:1"}, Peer{3, "b.localhost:1"}, Peer{4, "127.0.0.1:1"})
	require.Len(t, r.due(timed.Set{}), 2)
	require.Empty(t, r.due(timed.Set{}), "they were just tried")
	for _, x := range r.targets {
		x.tried = time.Now().Add(-lookUpSilent)
	}
	due := r.due(timed.SetOf(2))
	require.Len(t, due, 1)
	require.Equal(t, timed.NodeID(3), due[0].ID)
}
