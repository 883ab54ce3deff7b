package failaware

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// checkAddr checks an address of the configuration without looking it up.
func checkAddr(addr string, local, insecure bool) error {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not host:port", addr)
	}
	port, err := strconv.ParseUint(service, 10, 16)
	switch {
	case err != nil:
		return fmt.Errorf("%q: the port is not a number up to 65535", addr)
	case port == 0 && !local:
		return fmt.Errorf("%q: nobody listens at port 0", addr)
	case host == "" && !local:
		return fmt.Errorf("%q: the host is missing", addr)
	case !insecure && !loopbackHost(host):
		return fmt.Errorf("%q is not a loopback address, and packets are not authenticated: only Insecure allows it", addr)
	}
	return nil
}

func loopbackHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}
