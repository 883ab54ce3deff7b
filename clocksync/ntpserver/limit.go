package ntpserver

import (
	"fmt"
	"hash/maphash"
	"net/netip"
	"time"

	"github.com/failaware/failaware/timed"
)

// Limit is how many requests are answered: Burst at once, and PerSecond in the
// long run. The zero value stands for a default.
type Limit struct {
	PerSecond int
	Burst     int
}

// Limits of limits.
const (
	// Sources is how many source addresses are remembered. One that had to make
	// room for others counts as new.
	Sources = sets * ways

	maxPerSecond = 1_000_000
	maxBurst     = 1_000_000

	sets, ways = 1024, 4

	kissEvery = 2 * time.Second // to one source
)

func (l Limit) check(name string) error {
	if l.PerSecond < 1 || l.PerSecond > maxPerSecond {
		return fmt.Errorf("%s.PerSecond: %d is outside [1, %d]", name, l.PerSecond, maxPerSecond)
	}
	if l.Burst < 1 || l.Burst > maxBurst {
		return fmt.Errorf("%s.Burst: %d is outside [1, %d]", name, l.Burst, maxBurst)
	}
	return nil
}

// debt is the instant at which a source that asks evenly has paid for what it was
// given. Everything before now is no debt at all.
type debt timed.Instant

// pay takes one request, unless the burst is used up.
func (d *debt) pay(l *Limit, now timed.Instant) bool {
	each := time.Second / time.Duration(l.PerSecond)
	due := timed.Later(timed.Instant(*d), now).Add(each)
	if due.Sub(now) > each*time.Duration(l.Burst) {
		return false
	}
	*d = debt(due)
	return true
}

// source is what is remembered of an address.
type source struct {
	prefix netip.Prefix
	debt   debt
	kissed timed.Instant
}

// limiter remembers sources in a table of fixed size: a few places for each hash.
// It belongs to one goroutine.
type limiter struct {
	each, all Limit
	total     debt
	seed      maphash.Seed // so that nobody can choose addresses that share places
	table     [sets][ways]source
}

// word is the limiter's about one request.
type word uint8

const (
	mayPass word = iota
	tellRate
	ignoreSource // beyond its own limit, and told so not long ago
	ignoreAll    // beyond the limit of all
)

// ask decides about a request from an address.
func (l *limiter) ask(from netip.Addr, now timed.Instant) word {
	s := l.find(from, now)
	if s.debt.pay(&l.each, now) {
		if !l.total.pay(&l.all, now) {
			return ignoreAll
		}
		return mayPass
	}
	if now.Sub(s.kissed) < kissEvery || !l.total.pay(&l.all, now) {
		return ignoreSource
	}
	s.kissed = now
	return tellRate
}

// prefixOf returns what counts as one source: in IPv6 everybody has 2⁶⁴ addresses.
func prefixOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	length := 32
	if a.Is6() {
		length = 64
	}
	p, _ := a.Prefix(length)
	return p
}

// find returns the place of a source, which another one of little debt may have
// to leave.
func (l *limiter) find(from netip.Addr, now timed.Instant) *source {
	prefix := prefixOf(from)
	set := &l.table[maphash.Comparable(l.seed, prefix)%sets]
	least := &set[0]
	for i := range set {
		if set[i].prefix == prefix {
			return &set[i]
		}
		if set[i].debt < least.debt {
			least = &set[i]
		}
	}
	*least = source{prefix: prefix, debt: debt(now), kissed: now.Add(-kissEvery)}
	return least
}
