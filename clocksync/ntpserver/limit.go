package ntpserver

import (
	"fmt"
	"hash/maphash"
	"net/netip"
	"time"

	"github.com/failaware/failaware/timed"
)

// Limit bounds the number of answered requests: Burst at once, and PerSecond on
// average. The zero value stands for a default.
type Limit struct {
	PerSecond int
	Burst     int
}

const (
	maxPerSecond = 1_000_000
	maxBurst     = 1_000_000

	sets, ways = 1024, 4 // of the table of source addresses; an evicted one counts as new

	kissPeriod = 2 * time.Second // per source
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

// bucket is a leaky bucket: the instant at which it is empty.
type bucket timed.Instant

// take adds one request unless the bucket is full.
func (b *bucket) take(l *Limit, now timed.Instant) bool {
	each := time.Second / time.Duration(l.PerSecond)
	empty := max(timed.Instant(*b), now).Add(each)
	if empty.Sub(now) > each*time.Duration(l.Burst) {
		return false
	}
	*b = bucket(empty)
	return true
}

// source is the state of one address.
type source struct {
	prefix netip.Prefix
	bucket bucket
	kissed timed.Instant
}

// limiter limits requests by source and in total. Its table of sources is a set
// associative cache. It is not safe for concurrent use.
type limiter struct {
	each, all Limit
	total     bucket
	seed      maphash.Seed // keeps attackers from choosing addresses that collide
	table     [sets][ways]source
}

// limit returns answered if a request is within the limits, and kissed,
// limitedSource or limitedAll otherwise.
func (l *limiter) limit(from netip.Addr, now timed.Instant) outcome {
	s := l.find(from, now)
	if s.bucket.take(&l.each, now) {
		if !l.total.take(&l.all, now) {
			return limitedAll
		}
		return answered
	}
	if now.Sub(s.kissed) < kissPeriod || !l.total.take(&l.all, now) {
		return limitedSource
	}
	s.kissed = now
	return kissed
}

// prefixOf returns the network that counts as one source. An IPv6 host may have 2⁶⁴
// addresses.
func prefixOf(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	length := 32
	if a.Is6() {
		length = 64
	}
	p, _ := a.Prefix(length)
	return p
}

// find returns the entry of a source. A new source evicts the one with the emptiest
// bucket.
func (l *limiter) find(from netip.Addr, now timed.Instant) *source {
	prefix := prefixOf(from)
	set := &l.table[maphash.Comparable(l.seed, prefix)%sets]
	least := &set[0]
	for i := range set {
		if set[i].prefix == prefix {
			return &set[i]
		}
		if set[i].bucket < least.bucket {
			least = &set[i]
		}
	}
	*least = source{prefix: prefix, bucket: bucket(now), kissed: now.Add(-kissPeriod)}
	return least
}
