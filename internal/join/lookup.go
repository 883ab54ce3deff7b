package join

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/internal/peers"
)

const (
	lookEvery  = time.Second      // between two looks at whether a lookup is due
	firstWait  = time.Second      // between the first two lookups; then twice as long each time
	loneWait   = 15 * time.Second // between two lookups at most while the node hears nobody
	calmWait   = time.Minute      // and while it hears somebody
	patience   = 5 * time.Second  // of a lookup
	maxTargets = 16               // of a service
)

// search is a source, and what it has led to.
type search struct {
	Source

	// Guarded by the finder's mutex.
	addrs   []netip.AddrPort
	problem string

	// Of the source's goroutine.
	tried time.Time
	wait  time.Duration
	file  os.FileInfo // of the file that was read last
}

// Run looks names up and reads files until stop is closed.
func (f *Finder) Run(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, s := range f.sources {
		if s.Kind != Address && s.Kind != Multicast {
			go f.follow(ctx, s)
		}
	}
	<-stop
}

// follow looks a source up again and again.
func (f *Finder) follow(ctx context.Context, s *search) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if s.due(time.Now(), f.opt.Alive().Empty()) {
			f.look(ctx, s)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// due reports whether a source must be looked up, and notes that it is.
func (s *search) due(now time.Time, alone bool) bool {
	wait := calmWait
	if alone {
		wait = s.wait
	} else {
		s.wait = 0 // it begins anew when it is alone again
	}
	changed := false
	if s.Kind == File {
		info, err := os.Stat(s.Path)
		changed = (err == nil) != (s.file != nil) ||
			err == nil && (!info.ModTime().Equal(s.file.ModTime()) || info.Size() != s.file.Size() || !os.SameFile(info, s.file))
	}
	if !changed && !s.tried.IsZero() && now.Sub(s.tried) < wait {
		return false
	}
	s.tried, s.wait = now, min(max(2*s.wait, firstWait), loneWait)
	return true
}

// look looks a source up once.
func (f *Finder) look(ctx context.Context, s *search) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	addrs, err := f.addresses(ctx, s)
	if errors.Is(ctx.Err(), context.Canceled) {
		return // the node stops
	}
	list, problem := f.usable(addrs)
	if err != nil {
		problem = peers.Reason(err)
	}
	if f.take(s, list, problem, err != nil) && problem != "" {
		f.opt.Log(hclog.Warn, "cannot find nodes to join", "join", s.Text, "error", problem)
	}
}

// take takes the outcome of a lookup. It reports whether the problem is another one.
func (f *Finder) take(s *search, list []netip.AddrPort, problem string, failed bool) (another bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if failed && len(list) == 0 {
		list = s.addrs // the previous ones may still be right
	}
	if another = problem != s.problem; !another && slices.Equal(list, s.addrs) {
		return false
	}
	s.addrs, s.problem = list, problem
	f.publish()
	f.opt.Changed()
	return another
}

// addresses returns all addresses of a source. With an error, those that it has are
// right all the same.
func (f *Finder) addresses(ctx context.Context, s *search) ([]netip.AddrPort, error) {
	switch s.Kind {
	case Service:
		return f.service(ctx, s.Host)
	case File:
		return f.readFile(ctx, s)
	}
	return f.name(ctx, s.Host, s.Port)
}

// name looks up all addresses of a name.
func (f *Finder) name(ctx context.Context, host string, port uint16) (addrs []netip.AddrPort, err error) {
	ips, err := f.opt.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, ip := range ips {
		addrs = append(addrs, netip.AddrPortFrom(ip, port))
	}
	// Name servers turn the order. slices.SortFunc takes 10 KB for this type.
	sort.Slice(addrs, func(i, j int) bool { return addrs[i].Compare(addrs[j]) < 0 })
	return addrs, nil
}

// service looks up the targets of a service.
func (f *Finder) service(ctx context.Context, name string) (addrs []netip.AddrPort, err error) {
	_, targets, err := f.opt.Resolver.LookupSRV(ctx, "", "", name)
	if err != nil && len(targets) == 0 {
		return nil, err
	}
	var errs []error
	for _, t := range targets[:min(len(targets), maxTargets)] {
		more, err := f.name(ctx, strings.TrimSuffix(t.Target, "."), t.Port)
		if err != nil {
			errs = append(errs, err)
		}
		addrs = append(addrs, more...)
	}
	if len(targets) > maxTargets {
		errs = append(errs, fmt.Errorf("%s has %d targets, and %d are looked up", name, len(targets), maxTargets))
	}
	if len(addrs) == 0 && len(errs) == 0 {
		errs = append(errs, &net.DNSError{Err: "the service has no targets", Name: name, IsNotFound: true})
	}
	return addrs, errors.Join(errs...)
}
