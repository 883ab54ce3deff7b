package seal

import (
	"fmt"
	"slices"
)

// MaxKeys is the largest number of keys in a ring.
const MaxKeys = 3

// Ring is a set of keys. The first one seals packets, and all of them open packets. It
// is immutable.
type Ring struct {
	keys   []Key
	ids    []KeyID
	kdf    []deriver // of packets
	shared []deriver // of shared frames
}

// NewRing returns a ring of keys. The first one seals.
func NewRing(keys ...Key) (*Ring, error) {
	if len(keys) == 0 {
		return nil, fmt.Errorf("there is no key")
	}
	if len(keys) > MaxKeys {
		return nil, fmt.Errorf("%d keys are more than %d", len(keys), MaxKeys)
	}
	r := &Ring{keys: slices.Clone(keys)}
	for i := range r.keys {
		id := r.keys[i].ID()
		if slices.Contains(r.ids, id) {
			return nil, fmt.Errorf("key %v is there twice", id)
		}
		r.ids = append(r.ids, id)
		r.kdf = append(r.kdf, newDeriver(r.keys[i].derive(packetInfo, KeySize)))
		r.shared = append(r.shared, newDeriver(r.keys[i].derive(sharedInfo, KeySize)))
	}
	return r, nil
}

// IDs returns the ids of the keys, the one that seals first. The caller must not change
// them.
func (r *Ring) IDs() []KeyID { return r.ids }

// Keys returns a copy of the keys, the one that seals first.
func (r *Ring) Keys() []Key { return slices.Clone(r.keys) }

// find returns the index of a key, or -1.
func (r *Ring) find(id KeyID) int { return slices.Index(r.ids, id) }

// Install returns the ring with another key, which opens and does not seal.
func (r *Ring) Install(k Key) (*Ring, error) { return NewRing(append(r.Keys(), k)...) }

// Use returns the ring with a key as the one that seals.
func (r *Ring) Use(id KeyID) (*Ring, error) {
	i := r.find(id)
	if i < 0 {
		return nil, fmt.Errorf("there is no key %v: install it first", id)
	}
	keys := r.Keys()
	k := keys[i]
	return NewRing(append([]Key{k}, slices.Delete(keys, i, i+1)...)...)
}

// Remove returns the ring without a key that does not seal.
func (r *Ring) Remove(id KeyID) (*Ring, error) {
	switch i := r.find(id); {
	case i < 0:
		return nil, fmt.Errorf("there is no key %v", id)
	case i == 0:
		return nil, fmt.Errorf("key %v seals: use another one first", id)
	default:
		return NewRing(slices.Delete(r.Keys(), i, i+1)...)
	}
}
