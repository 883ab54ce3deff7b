package broadcast

// Each class has a lane of the window: half of this node's share, which it gets however
// much the other class has taken. A class may take what the other leaves, unless that one
// waits for room. An empty lane has room for a message of any size. So messages exceed the
// share by a lane at most, or by one message of each class that is larger than its lane.
const lanes = int(classes)

// reservation is for the largest message of a class that was refused for lack of room. Smaller
// messages of its class do not take the room that it waits for, and the other class takes
// no more than its lane. The caller need not try again, so a reservation ends when there was
// room for it mostChances times.
type reservation struct {
	bytes, frags int
	chances      int
}

const mostChances = 2

// share returns this node's share of the window in bytes.
func (s *Service) share() int { return s.cfg.Window / max(1, len(s.members)) }

// admit reports whether a message may be broadcast now. bytes include perMessage for
// each of its fragments. A message that is refused gets a reservation.
func (s *Service) admit(c Class, bytes, frags int) bool {
	if s.reservations[ClassUnordered].bytes|s.reservations[ClassOrdered].bytes == 0 && s.inShare(c, bytes, frags) {
		return true // nobody waits
	}
	l := &s.reservations[c]
	if l.bytes > bytes && !s.hasBoth(c, bytes, frags) && s.reserved(c) {
		return false
	}
	if !s.inLane(c, bytes, frags) && (!s.inShare(c, bytes, frags) || s.reserved(ClassOrdered-c)) {
		if bytes > l.bytes {
			*l = reservation{bytes: bytes, frags: frags}
		}
		return false
	}
	if bytes >= l.bytes {
		*l = reservation{}
	}
	return true
}

// inLane reports whether the lane of a class has room for a message.
func (s *Service) inLane(c Class, bytes, frags int) bool {
	st := s.stream(c)
	return s.mayCount(c, frags) && (st.bytes == 0 || st.bytes+bytes <= s.share()/lanes)
}

// inShare reports whether the share has room for a message beside those of both classes.
func (s *Service) inShare(c Class, bytes, frags int) bool {
	own := s.streamsOf(s.cfg.Self.Node)
	used := own[ClassUnordered].bytes + own[ClassOrdered].bytes
	return int(own[c].top-own[c].floor)+frags <= s.cfg.MaxMessages && used+bytes <= s.share()
}

// hasBoth reports whether a message leaves the room that is reserved for its class.
func (s *Service) hasBoth(c Class, bytes, frags int) bool {
	l := &s.reservations[c]
	bytes, frags = bytes+l.bytes, frags+l.frags
	return s.stream(c).bytes+bytes <= s.share()/lanes && s.mayCount(c, frags) || s.inShare(c, bytes, frags)
}

// mayCount reports whether a class may have so many more messages or fragments under way.
func (s *Service) mayCount(c Class, frags int) bool {
	st := s.stream(c)
	return int(st.top-st.floor)+frags <= s.cfg.MaxMessages
}

// reserved reports whether room is kept for the reservation of a class. If there is room, the
// reservation has a chance.
func (s *Service) reserved(c Class) bool {
	l := &s.reservations[c]
	if l.bytes > 0 && (s.inLane(c, l.bytes, l.frags) || s.inShare(c, l.bytes, l.frags)) {
		if l.chances++; l.chances > mostChances {
			*l = reservation{}
		}
	}
	return l.bytes > 0
}

// stream returns this node's own stream of a class.
func (s *Service) stream(c Class) *stream { return &s.streamsOf(s.cfg.Self.Node)[c] }
