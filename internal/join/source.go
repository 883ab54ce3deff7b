package join

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Limits.
const (
	MaxSources   = 16  // of one node
	MaxAddresses = 64  // of all sources together
	maxText      = 512 // bytes of a source
)

// Kind is the kind of a source.
type Kind uint8

// The kinds of sources.
const (
	Address   Kind = iota // HOST:PORT, where HOST is an IP address
	Name                  // HOST:PORT, where HOST is a name; all its addresses count
	Service               // srv:NAME, a service of the DNS
	File                  // file:PATH, with HOST:PORT in each line
	Multicast             // multicast or multicast:GROUP:PORT
)

// DefaultGroup is the multicast group of the source "multicast".
var DefaultGroup = netip.MustParseAddrPort("239.255.70.65:7065")

const (
	servicePrefix = "srv:"
	filePrefix    = "file:"
	multicastName = "multicast"
)

// Source is where members may be found.
type Source struct {
	Text string // as configured
	Kind Kind
	Addr netip.AddrPort // of an Address or a Multicast
	Host string         // of a Name, and the name of a Service
	Port uint16         // of a Name
	Path string         // of a File
}

// Parse reads a source.
func Parse(text string) (Source, error) {
	s := Source{Text: text}
	var err error
	switch {
	case text == "":
		return s, errors.New("it is empty: HOST:PORT, srv:NAME, file:PATH or multicast is needed")
	case len(text) > maxText:
		return s, fmt.Errorf("%d bytes are more than %d", len(text), maxText)
	case strings.HasPrefix(text, servicePrefix):
		s.Kind, s.Host = Service, text[len(servicePrefix):]
		err = s.checkService()
	case strings.HasPrefix(text, filePrefix):
		s.Kind, s.Path = File, text[len(filePrefix):]
		if s.Path == "" {
			err = fmt.Errorf("%q names no file", text)
		}
	case text == multicastName:
		s.Kind, s.Addr = Multicast, DefaultGroup
	case strings.HasPrefix(text, multicastName+":"):
		s.Kind = Multicast
		s.Addr, err = parseGroup(text[len(multicastName)+1:])
	default:
		err = s.parseHost()
	}
	return s, err
}

func (s *Source) checkService() error {
	switch {
	case s.Host == "":
		return fmt.Errorf("%q names no service", s.Text)
	case strings.ContainsAny(s.Host, ": /"):
		return fmt.Errorf("%q: a service is a name of the DNS alone, as in srv:_failaware._udp.example.org; the DNS says the port", s.Text)
	}
	return nil
}

func parseGroup(text string) (netip.AddrPort, error) {
	a, err := netip.ParseAddrPort(text)
	if err != nil || !a.Addr().Is4() || !a.Addr().IsMulticast() || a.Port() == 0 {
		return a, fmt.Errorf("%q is not the address and port of a multicast group of IPv4, as in %v", text, DefaultGroup)
	}
	return a, nil
}

// parseHost reads HOST:PORT.
func (s *Source) parseHost() error {
	host, service, err := net.SplitHostPort(s.Text)
	if err != nil {
		return fmt.Errorf("%q is none of HOST:PORT, srv:NAME, file:PATH and multicast", s.Text)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	switch {
	case err != nil:
		return fmt.Errorf("%q: the port is not a number up to 65535", s.Text)
	case port == 0:
		return fmt.Errorf("%q: nobody listens at port 0", s.Text)
	case host == "":
		return fmt.Errorf("%q: the host is missing", s.Text)
	}
	s.Kind, s.Host, s.Port = Name, host, uint16(port)
	if ip, err := netip.ParseAddr(host); err == nil {
		s.Kind, s.Addr = Address, netip.AddrPortFrom(ip.Unmap(), s.Port)
		if ip.IsUnspecified() || ip.IsMulticast() {
			return fmt.Errorf("%q is not the address of a node", s.Text)
		}
	}
	return nil
}
