package lan

import (
	"net"
	"net/netip"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a name server for a few names.
type names struct {
	mu       sync.Mutex
	hosts    map[string][]netip.Addr
	services map[string][]dnsmessage.SRVResource
}

// serve answers questions until the socket is closed.
func (s *names) serve(c net.PacketConn) {
	b := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		var q dnsmessage.Message
		if q.Unpack(b[:n]) != nil || len(q.Questions) != 1 {
			continue
		}
		if answer, err := s.answer(&q); err == nil {
			_, _ = c.WriteTo(answer, from)
		}
	}
}

func (s *names) answer(q *dnsmessage.Message) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := q.Questions[0]
	a := dnsmessage.Message{Questions: q.Questions, Header: dnsmessage.Header{ID: q.ID, Response: true, Authoritative: true,
		RecursionDesired: q.RecursionDesired, RecursionAvailable: true}}
	add := func(body dnsmessage.ResourceBody) {
		a.Answers = append(a.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: x.Name, Class: dnsmessage.ClassINET, TTL: 1}, Body: body})
	}
	addrs, isHost := s.hosts[x.Name.String()]
	services, isService := s.services[x.Name.String()]
	for _, ip := range addrs {
		switch {
		case ip.Is4() && x.Type == dnsmessage.TypeA:
			add(&dnsmessage.AResource{A: ip.As4()})
		case ip.Is6() && x.Type == dnsmessage.TypeAAAA:
			add(&dnsmessage.AAAAResource{AAAA: ip.As16()})
		}
	}
	for i := range services {
		if x.Type == dnsmessage.TypeSRV {
			add(&services[i])
		}
	}
	if !isHost && !isService {
		a.RCode = dnsmessage.RCodeNameError
	}
	return a.Pack()
}

// set changes the addresses of a name.
func (s *names) set(name string, addrs ...netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hosts[name] = addrs
}
