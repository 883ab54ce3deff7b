package broadcast

import "github.com/failaware/failaware/clocksync"

// Slab is memory of the machine for the payloads of own messages, which saves copying
// them. The zero value is not a slab.
type Slab struct{ home *chunk }

// SlabBytes is the size of a slab.
const SlabBytes = chunkSize

// TakeSlab returns a slab for payloads of one class, and its empty memory. The caller
// writes payloads one behind the other. Those that it has handed over belong to the
// machine. Until CloseSlab it may write behind them at any time, also from other
// goroutines.
func (s *Service) TakeSlab() (Slab, []byte) {
	c := s.arena.take(SlabBytes)
	c.open = true
	return Slab{c}, c.buf
}

// CloseSlab ends the use of a slab by the caller.
func (s *Service) CloseSlab(b Slab) {
	b.home.open = false
	s.arena.reuse(b.home)
}

// BroadcastSlab is Broadcast with a payload of n bytes at off in a slab of this Service,
// which is not copied.
func (s *Service) BroadcastSlab(reading clocksync.Reading, b Slab, off, n int, opt Options) (ID, error) {
	return s.broadcast(reading, b.home.buf[off:off+n], b.home, off, opt)
}

// Broadcast copies a payload, queues it for the members of the view, and returns its id.
// reading is the present reading of the node's clock. While a view changes, messages wait
// for the next view. The error is ErrWindowFull, ErrTooLarge, ErrOptions, ErrNoQuorum or
// ErrLeaving. HandleTimeout returns the effects.
func (s *Service) Broadcast(reading clocksync.Reading, payload []byte, opt Options) (ID, error) {
	return s.broadcast(reading, payload, nil, 0, opt)
}

// broadcast takes a payload, which it copies unless it is in a chunk.
func (s *Service) broadcast(reading clocksync.Reading, payload []byte, home *chunk, off int, opt Options) (ID, error) {
	class := opt.Order.Class()
	switch {
	case !opt.Valid():
		return ID{}, ErrOptions
	case len(payload) > s.cfg.MaxPayload:
		return ID{}, ErrTooLarge
	case s.slow.leaving:
		return ID{}, ErrLeaving
	case class == ClassOrdered && s.view != nil && !s.quorate:
		return ID{}, ErrNoQuorum
	}
	frags := s.cfg.fragments(len(payload))
	st := &s.streamsOf(s.cfg.Self.Node)[class]
	if st.boot == 0 {
		st.begin(&s.arena, s.cfg.Self.Boot, 0)
	}
	if !s.admit(class, len(payload)+frags*perMessage, frags) {
		return ID{}, ErrWindowFull
	}
	stamp, dev := s.stampNow(reading)
	r := Run{Sender: s.cfg.Self.Node, Boot: s.cfg.Self.Boot, Class: class, Options: opt, Count: 1, Stamp: stamp, Deviation: dev}
	size := (len(payload) + frags - 1) / frags
	for i := range frags {
		// All fragments except the last have one size, because the kernel sends
		// packets of one size together and others one by one.
		part := payload[i*size : min(len(payload), (i+1)*size)]
		s.own[class]++
		r.First, r.Size, r.Payload, r.Begins, r.Ends = s.own[class], uint32(len(part)), part, i == 0, i == frags-1
		if home == nil {
			st.put(&s.arena, &r, s.cfg.MaxMessages)
		} else if st.reserve(r.First, s.cfg.MaxMessages) {
			st.store(home, off+i*size, &r, 0)
		}
	}
	return ID{Sender: s.cfg.Self.Node, Boot: s.cfg.Self.Boot, Class: class, Sequence: s.own[class]}, nil
}
