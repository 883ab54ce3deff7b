package api

import (
	"errors"
	"slices"
	"strings"

	"github.com/failaware/failaware/internal/kv"
)

// listing is one of the present keys. It has pages, and each is read when the client has taken
// the one before, so that a slow client does not hold an old state. Later pages may be of later
// states: the client knows one state when it also has the changes after the first page. Until
// then items have the id [fromReset], because a state that goes on from the first page need not
// have what a later page has.
type listing struct {
	pages    []page
	underWay bool // there are other pages
	lost     bool // the changes since the first page are not kept any more
}

// page is a part of a listing: the keys after those of the page before, through one of them, as
// they were at a place. The last page has all further keys.
type page struct {
	through string
	at      kv.Place
}

// through returns the last key of the pages.
func (l *listing) through() string {
	if len(l.pages) == 0 {
		return ""
	}
	return l.pages[len(l.pages)-1].through
}

// newest returns the latest place of a page.
func (l *listing) newest() kv.Place {
	if len(l.pages) == 0 {
		return kv.Place{}
	}
	return l.pages[len(l.pages)-1].at
}

// add adds a page.
func (l *listing) add(n *watchUpdate) {
	through := l.through()
	if len(n.list) > 0 {
		through = n.list[len(n.list)-1].Key
	}
	l.pages, l.underWay, l.lost = append(l.pages, page{through, n.place}), n.more, l.lost || n.lost
}

// follows returns nil if a state goes on from the last page, and has the changes since the
// first one; gone is nil if it has those.
func (l *listing) follows(st *kv.State, gone error) error {
	last := st.Reached(l.newest())
	switch {
	case errors.Is(last, kv.ErrAhead):
		return kv.ErrOtherPart
	case last != nil:
		return last
	case l.lost:
		return kv.ErrCompacted
	}
	return gone
}

// has reports whether the page of a key was read after a change of it.
func (l *listing) has(c *kv.Change) bool {
	if len(l.pages) == 0 {
		return false
	}
	i, _ := slices.BinarySearchFunc(l.pages, c.Key, func(p page, key string) int { return strings.Compare(p.through, key) })
	return c.Revision <= l.pages[min(i, len(l.pages)-1)].at.Revision
}

// catchesUp reports whether the client lacks pages of a listing, or changes before its last page.
func (f *watch) catchesUp() bool {
	return f.listing.underWay || f.at.Revision < f.listing.newest().Revision
}

// idOf returns the id with which a client resumes at a place.
func (f *watch) idOf(p kv.Place) string {
	if p.Revision < f.listing.newest().Revision {
		return fromReset
	}
	return p.String()
}

// page sends the first or the next page of the present keys.
func (f *watch) page(n *watchUpdate) bool {
	if f.list != "" {
		if !f.send(KVChange{ID: fromReset, Kind: "reset", Revision: n.place.Revision, Reason: f.list}) {
			return false
		}
		f.list, f.listing, f.at = "", listing{}, n.place
	}
	f.listing.add(n)
	for _, e := range n.list {
		i := itemOf(e)
		if !f.send(KVChange{ID: fromReset, Kind: "item", Key: i.Key, Value: i.Value, Version: i.Version, Lease: i.Lease, Revision: e.Version.Revision}) {
			return false
		}
	}
	return n.more || f.send(KVChange{ID: f.idOf(f.at), Kind: "complete", Revision: f.at.Revision})
}
