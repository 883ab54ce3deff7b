package udp

import (
	"net"
	"strconv"
)

// zones caches the names of the interfaces of link-local addresses, because asking the
// system allocates. It belongs to one goroutine, and has at most one entry for each
// interface that the machine had.
type zones struct {
	names   map[uint32]string
	indices map[string]uint32
}

// name returns the name of an interface, or its number if it has none.
func (z *zones) name(index uint32) string {
	if name, ok := z.names[index]; ok {
		return name
	}
	ifi, err := net.InterfaceByIndex(int(index))
	if err != nil {
		return strconv.FormatUint(uint64(index), 10)
	}
	if z.names == nil {
		z.names = make(map[uint32]string)
	}
	z.names[index] = ifi.Name
	return ifi.Name
}

// index returns the number of an interface given by name or number, or zero.
func (z *zones) index(zone string) uint32 {
	if zone == "" {
		return 0
	}
	if index, ok := z.indices[zone]; ok {
		return index
	}
	ifi, err := net.InterfaceByName(zone)
	if err != nil {
		index, err := strconv.ParseUint(zone, 10, 32)
		if err != nil {
			return 0
		}
		return uint32(index)
	}
	if z.indices == nil {
		z.indices = make(map[string]uint32)
	}
	z.indices[zone] = uint32(ifi.Index)
	return uint32(ifi.Index)
}
