package peers

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware/timed"
)

const (
	lookUpHeard    = 30 * time.Second // between lookups of a peer that is heard
	lookUpSilent   = 3 * time.Second  // of one that is not
	lookUpPatience = 5 * time.Second
)

// Run looks names up until stop is closed. It is the resolver's goroutine.
func (r *Resolver) Run(stop <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-stop
		cancel() // ends lookups under way
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		r.round(ctx)
		select {
		case <-stop:
			return
		case <-r.kick:
		case <-tick.C:
		}
	}
}

// round looks up the names that are due, all at the same time.
func (r *Resolver) round(ctx context.Context) {
	alive := r.opt.Alive()
	var wg sync.WaitGroup
	for _, t := range r.due(alive) {
		wg.Go(func() { r.lookUp(ctx, t, !alive.Has(t.node())) })
	}
	wg.Wait()
}

// due returns the names to look up now.
func (r *Resolver) due(alive timed.Set) (due []*target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.targets {
		wait := lookUpSilent
		if alive.Has(t.node()) {
			wait = lookUpHeard
		}
		if t.name && time.Since(t.tried) >= wait {
			t.tried = time.Now()
			due = append(due, t)
		}
	}
	return due
}

func (t *target) node() timed.NodeID {
	if t.ID != timed.NoNode {
		return t.ID
	}
	return timed.NodeID(t.learnt.Load())
}

func (r *Resolver) lookUp(ctx context.Context, t *target, silent bool) {
	ctx, cancel := context.WithTimeout(ctx, lookUpPatience)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.host)
	if errors.Is(ctx.Err(), context.Canceled) {
		return // the node stops
	}
	if problem := r.found(t, ips, err, silent); problem != "" {
		r.opt.Log(hclog.Warn, "cannot find a peer", "peer", t.Addr, "error", problem)
	}
}

// found takes the outcome of a lookup. It returns a problem that is new.
func (r *Resolver) found(t *target, ips []netip.Addr, err error, silent bool) (problem string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	addr, before := t.addr, t.problem
	if err != nil {
		problem = Reason(err) // the previous address may still be right
	} else {
		addr, problem = r.choose(t, ips, silent)
	}
	if addr == t.addr && problem == before {
		return ""
	}
	t.addr, t.problem = addr, problem
	r.publish()
	r.opt.Changed()
	if problem == before {
		return ""
	}
	return problem
}
