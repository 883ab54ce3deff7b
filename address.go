package failaware

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// checkAddr checks an address of the configuration without looking it up.
func checkAddr(addr string, local, insecure bool) error {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not host:port", addr)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	switch {
	case err != nil:
		return fmt.Errorf("%q: the port is not a number up to 65535", addr)
	case port == 0 && !local:
		return fmt.Errorf("%q: nobody listens at port 0", addr)
	case host == "" && !local:
		return fmt.Errorf("%q: the host is missing", addr)
	case !insecure && !loopbackHost(host):
		return fmt.Errorf("%q is not a loopback address, and packets are not authenticated: only Insecure allows it", addr)
	}
	return nil
}

func loopbackHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// book is the list of peers with their addresses, as known now. It is immutable,
// so that the loop reads it without a lock.
type book []*entry

// entry is one line of the book.
type entry struct {
	id      NodeID         // NoNode: to be learnt
	name    string         // the address as configured
	addr    netip.AddrPort // not valid while unresolved
	problem string         // why it is unresolved
	bound   *atomic.Uint32 // the id that was learnt for it; shared by all versions of the line
}

// node returns the id of the entry, configured or learnt.
func (e *entry) node() NodeID {
	if e.id != NoNode {
		return e.id
	}
	return NodeID(e.bound.Load())
}

const (
	resolveAgain   = 30 * time.Second // names of peers that are heard
	resolveSilent  = 3 * time.Second  // names of peers that are not
	lookUpPatience = 5 * time.Second
)

// resolver looks up the names of peers, in a goroutine of its own: a lookup can
// take seconds.
type resolver struct {
	n    *Node
	kick chan struct{}

	mu      sync.Mutex
	targets []*target
}

// target is a peer to find. Its fields belong to the resolver's lock, but for
// the immutable first line.
type target struct {
	Peer
	host  string
	port  uint16
	name  bool // host is a name
	bound *atomic.Uint32

	addr    netip.AddrPort
	problem string
	tried   time.Time
}

func newResolver(n *Node) *resolver {
	r := &resolver{n: n, kick: make(chan struct{}, 1)}
	r.replace(n.cfg.Peers)
	return r
}

// set replaces the list.
func (r *resolver) set(peers []Peer) {
	r.replace(peers)
	r.n.conn.Wake()
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// replace makes targets of valid peers, keeps what is known of those that were
// there before, and publishes.
func (r *resolver) replace(peers []Peer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.targets
	r.targets = nil
	for _, p := range peers {
		if p.ID == r.n.cfg.ID {
			continue
		}
		if i := slices.IndexFunc(old, func(t *target) bool { return t.Peer == p }); i >= 0 {
			r.targets = append(r.targets, old[i])
			continue
		}
		host, service, _ := net.SplitHostPort(p.Addr)
		port, _ := strconv.ParseUint(service, 10, 16)
		t := &target{Peer: p, host: host, port: uint16(port), bound: new(atomic.Uint32)}
		if ip, err := netip.ParseAddr(host); err == nil {
			t.addr, t.problem = r.pick(t, []netip.Addr{ip}, false)
		} else {
			t.name, t.problem = true, "not looked up yet"
		}
		r.targets = append(r.targets, t)
	}
	r.publish()
}

// publish makes a new book. The lock is held.
func (r *resolver) publish() {
	b := make(book, len(r.targets))
	for i, t := range r.targets {
		b[i] = &entry{id: t.ID, name: t.Addr, addr: t.addr, problem: t.problem, bound: t.bound}
	}
	r.n.book.Store(&b)
}

// run looks names up until the node stops.
func (r *resolver) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-r.n.done
		cancel() // ends lookups under way
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		r.round(ctx)
		select {
		case <-r.n.done:
			return
		case <-r.kick:
		case <-tick.C:
		}
	}
}

// round looks up the names that are due, all at the same time.
func (r *resolver) round(ctx context.Context) {
	alive := r.n.state.Load().Alive
	r.mu.Lock()
	var due []*target
	for _, t := range r.targets {
		wait := resolveSilent
		if alive.Has(t.node()) {
			wait = resolveAgain
		}
		if t.name && time.Since(t.tried) >= wait {
			t.tried = time.Now()
			due = append(due, t)
		}
	}
	r.mu.Unlock()
	var wg sync.WaitGroup
	for _, t := range due {
		wg.Go(func() { r.lookUp(ctx, t, !alive.Has(t.node())) })
	}
	wg.Wait()
}

func (t *target) node() NodeID {
	if t.ID != NoNode {
		return t.ID
	}
	return NodeID(t.bound.Load())
}

func (r *resolver) lookUp(ctx context.Context, t *target, silent bool) {
	ctx, cancel := context.WithTimeout(ctx, lookUpPatience)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.host)
	if errors.Is(ctx.Err(), context.Canceled) {
		return // the node stops
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	addr, problem := t.addr, ""
	if err != nil {
		problem = err.Error() // the address of before may still be right
	} else {
		addr, problem = r.pick(t, ips, silent)
	}
	if addr == t.addr && problem == t.problem {
		return
	}
	if problem != "" && problem != t.problem {
		r.n.log.Warn("cannot find a peer", "peer", t.Addr, "error", problem)
	}
	t.addr, t.problem = addr, problem
	r.publish()
	r.n.conn.Wake()
}

// pick chooses among the addresses of a name: the present one while it is
// listed and the peer is heard there, and else the next one that this node's
// socket can send to.
func (r *resolver) pick(t *target, ips []netip.Addr, silent bool) (netip.AddrPort, string) {
	local := r.n.conn.LocalAddr().Addr()
	var usable []netip.AddrPort
	refused := "no address of the family of " + r.n.conn.LocalAddr().String()
	for _, ip := range ips {
		ip = ip.Unmap()
		switch {
		case ip.Is6() && local.Is4(), ip.Is4() && local.Is6() && !local.IsUnspecified():
		case !r.n.cfg.Insecure && !ip.IsLoopback():
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
