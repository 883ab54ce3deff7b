package peers

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/timed"
)

// Options describe the node of a resolver.
type Options struct {
	Self timed.NodeID
	// Local is the address of the node's socket: only peers of its address family
	// can be reached.
	Local netip.AddrPort
	// Insecure allows addresses other than loopback.
	Insecure bool
	// Alive returns the peers that the node hears. Names of the others are looked up
	// more often.
	Alive func() timed.Set
	// Changed is called when there is another list.
	Changed func()
	// Log writes a message to the log, and does not wait for it.
	Log func(level hclog.Level, text string, args ...any)
}

// Resolver holds the current list of peers. Its goroutine looks the names up, since
// a lookup can take seconds.
type Resolver struct {
	opt  Options
	list atomic.Pointer[List]
	kick chan struct{} // wakes the goroutine

	mu      sync.Mutex
	targets []*target
}

// target is a peer to find.
type target struct {
	// Immutable.
	Peer
	host   string
	port   uint16
	name   bool // host is a name
	learnt *atomic.Uint32

	// Guarded by the resolver's mutex.
	addr    netip.AddrPort
	problem string
	tried   time.Time
}

// NewResolver returns a resolver of valid peers. Addresses are resolved at once,
// names as soon as [Resolver.Run] runs.
func NewResolver(opt Options, list []Peer) *Resolver {
	r := &Resolver{opt: opt, kick: make(chan struct{}, 1)}
	r.replace(list)
	return r
}

// List returns the current list. It takes no lock.
func (r *Resolver) List() *List { return r.list.Load() }

// Set replaces the list by one of valid peers.
func (r *Resolver) Set(list []Peer) {
	r.replace(list)
	r.opt.Changed()
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// replace makes targets of peers, and keeps those that are there already.
func (r *Resolver) replace(list []Peer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.targets
	r.targets = nil
	for _, p := range list {
		if p.ID == r.opt.Self {
			continue
		}
		if i := slices.IndexFunc(old, func(t *target) bool { return t.Peer == p }); i >= 0 {
			r.targets = append(r.targets, old[i])
			continue
		}
		r.targets = append(r.targets, r.newTarget(p))
	}
	r.publish()
}

func (r *Resolver) newTarget(p Peer) *target {
	host, service, _ := net.SplitHostPort(p.Addr)
	port, _ := strconv.ParseUint(service, 10, 16)
	t := &target{Peer: p, host: host, port: uint16(port), learnt: new(atomic.Uint32)}
	if ip, err := netip.ParseAddr(host); err == nil {
		t.addr, t.problem = r.choose(t, []netip.Addr{ip}, false)
	} else {
		t.name, t.problem = true, "not looked up yet"
	}
	return t
}

// publish makes a new list of the targets. The caller holds mu.
func (r *Resolver) publish() {
	list := make(List, len(r.targets))
	for i, t := range r.targets {
		list[i] = &Entry{ID: t.ID, Name: t.Addr, Addr: t.addr, Problem: t.problem, learnt: t.learnt}
	}
	r.list.Store(&list)
}

// choose picks one of the addresses of a name: the present one while the name has
// it and the peer is heard there, and otherwise the next one that this node's
// socket can send to. It returns the problem if there is none.
func (r *Resolver) choose(t *target, ips []netip.Addr, silent bool) (netip.AddrPort, string) {
	local := r.opt.Local.Addr()
	var usable []netip.AddrPort
	refused := "no address of the family of " + r.opt.Local.String()
	for _, ip := range ips {
		ip = ip.Unmap()
		switch {
		case ip.Is6() && local.Is4(), ip.Is4() && local.Is6() && !local.IsUnspecified():
		case !r.opt.Insecure && !ip.IsLoopback():
			refused = ip.String() + " is not a loopback address"
		default:
			usable = append(usable, netip.AddrPortFrom(ip, t.port))
		}
	}
	if len(usable) == 0 {
		return netip.AddrPort{}, refused
	}
	i := slices.Index(usable, t.addr)
	if i < 0 {
		return usable[0], ""
	}
	if silent {
		i = (i + 1) % len(usable)
	}
	return usable[i], ""
}
