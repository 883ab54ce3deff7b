package join

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/timed"
)

// Resolver looks names up. A [*net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
	LookupSRV(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// Options describe the node that joins.
type Options struct {
	// Local is the address of the node's socket: only candidates of its address family
	// can be reached.
	Local netip.AddrPort
	// Known are addresses at which there were members earlier. They are candidates after
	// all others.
	Known []netip.AddrPort
	// Remote allows addresses other than loopback.
	Remote bool
	// Alive returns the peers that the node hears. Names are looked up more often while
	// there are none.
	Alive func() timed.Set
	// Changed is called when there are other candidates.
	Changed  func()
	Resolver Resolver // nil: that of the system
	// Log writes a message to the log, and does not wait for it.
	Log func(level hclog.Level, text string, args ...any)
}

// Found is what was found so far. It is immutable.
type Found struct {
	Addrs   []netip.AddrPort // the candidates, without repetition
	Sources []Status         // in the order of the configuration
}

// Status is what is known of a source.
type Status struct {
	Source  string           // as configured
	Addrs   []netip.AddrPort // that it has led to
	Problem string           // why there are none, or not all of them
}

// Finder finds candidates. Its goroutines look names up, since a lookup can take
// seconds. Methods are safe for concurrent use.
type Finder struct {
	opt   Options
	found atomic.Pointer[Found]

	mu      sync.Mutex
	sources []*search
}

// New returns a finder for valid sources. Addresses are found at once, all others as
// soon as [Finder.Run] runs.
func New(opt Options, sources []Source) *Finder {
	if opt.Resolver == nil {
		opt.Resolver = net.DefaultResolver
	}
	f := &Finder{opt: opt}
	for _, s := range sources {
		x := &search{Source: s}
		if x.Kind == Address || x.Kind == Multicast {
			x.addrs, x.problem = f.usable([]netip.AddrPort{s.Addr})
		} else {
			x.problem = "not looked up yet"
		}
		f.sources = append(f.sources, x)
	}
	f.opt.Known, _ = f.usable(opt.Known)
	f.publish()
	return f
}

// Found returns what was found so far. It takes no lock. On nil it returns nil.
func (f *Finder) Found() *Found {
	if f == nil {
		return nil
	}
	return f.found.Load()
}

// publish makes a new list of candidates. The caller holds mu, or is alone.
func (f *Finder) publish() {
	found := &Found{}
	add := func(addrs []netip.AddrPort) {
		for _, a := range addrs {
			if len(found.Addrs) < MaxAddresses && !slices.Contains(found.Addrs, a) {
				found.Addrs = append(found.Addrs, a)
			}
		}
	}
	for _, s := range f.sources {
		found.Sources = append(found.Sources, Status{s.Text, s.addrs, s.problem})
		add(s.addrs)
	}
	add(f.opt.Known)
	f.found.Store(found)
}

// usable returns the addresses that the node's socket can send to, and why another one
// is not among them. A name may have addresses of both families.
func (f *Finder) usable(addrs []netip.AddrPort) (list []netip.AddrPort, problem string) {
	local, family := f.opt.Local.Addr(), ""
	for _, a := range addrs {
		ip := a.Addr().Unmap()
		a = netip.AddrPortFrom(ip, a.Port())
		switch {
		case a.Port() == 0 || ip.IsUnspecified():
			problem = a.String() + " is not the address of a node"
		case ip.Is6() && local.Is4(), ip.Is4() && local.Is6() && !local.IsUnspecified():
			family = a.String() + " is not of the family of " + f.opt.Local.String()
		case !f.opt.Remote && !ip.IsLoopback():
			problem = ip.String() + " is not a loopback address, and packets are not authenticated"
		case slices.Contains(list, a):
		case len(list) >= MaxAddresses:
			return list, fmt.Sprintf("there are more than %d addresses", MaxAddresses)
		default:
			list = append(list, a)
		}
	}
	if len(list) == 0 && problem == "" {
		problem = family
	}
	return list, problem
}
