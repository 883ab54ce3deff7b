package udp

import (
	"net"
	"strconv"
	"time"
)

// zones caches the names of the interfaces of link-local addresses, because asking the
// system allocates. It belongs to one goroutine.
type zones struct {
	names   map[uint32]string
	indices map[string]uint32
	until   time.Time // when it asks again
}

// zonesLast is how long an answer of the system counts: an interface that is removed and
// made again has another number.
const zonesLast = time.Second

func (z *zones) refresh() {
	now := time.Now()
	if z.names == nil {
		z.names, z.indices = make(map[uint32]string), make(map[string]uint32)
	}
	if now.After(z.until) {
		clear(z.names)
		clear(z.indices)
		z.until = now.Add(zonesLast)
	}
}

// name returns the name of an interface, or its number if it has none.
func (z *zones) name(index uint32) string {
	z.refresh()
	name, ok := z.names[index]
	if !ok {
		name = strconv.FormatUint(uint64(index), 10)
		if ifi, err := net.InterfaceByIndex(int(index)); err == nil {
			name = ifi.Name
		}
		z.names[index] = name
	}
	return name
}

// index returns the number of an interface given by name or number, or zero.
func (z *zones) index(zone string) uint32 {
	if zone == "" {
		return 0
	}
	z.refresh()
	index, ok := z.indices[zone]
	if !ok {
		if ifi, err := net.InterfaceByName(zone); err == nil {
			index = uint32(ifi.Index)
		} else if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
			index = uint32(n)
		}
		z.indices[zone] = index
	}
	return index
}
