package udp

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// Every packet is in one train, the kernel can cut every train, and packets to one
// address stay in order.
func TestGroupingLosesAndReordersNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(1, 1<<19).Draw(t, "room")
		batch := rapid.IntRange(1, 70).Draw(t, "batch")
		hosts := rapid.IntRange(1, 40).Draw(t, "hosts")
		var w sender
		w.init(&Options{Batch: batch}, unix.AF_INET, room, true, new(counters))
		pkts := drawPackets(t, hosts)
		for len(pkts) > 0 {
			taken := w.fill(pkts)
			require.Positive(t, taken)
			require.LessOrEqual(t, len(w.trains), batch)
			requireTrains(t, &w, pkts[:taken], room)
			pkts = pkts[taken:]
		}
	})
}

// drawPackets draws packets to hosts of the socket's address family and, as host 0, to one
// of another.
func drawPackets(t *rapid.T, hosts int) []Packet {
	pkts := make([]Packet, rapid.IntRange(1, 300).Draw(t, "packets"))
	for i := range pkts {
		n := rapid.SampledFrom([]int{0, 1, 40, 40, 40, 1000, 1000, 20_000, 65_507}).Draw(t, "size")
		host := byte(rapid.IntRange(0, hosts).Draw(t, "host"))
		pkts[i] = Packet{Buf: make([]byte, n), N: n, Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, host}), 9)}
		pkts[i].Tail = make([]byte, rapid.SampledFrom([]int{0, 0, 1, 40}).Draw(t, "tail"))
		if host == 0 {
			pkts[i].Addr = netip.MustParseAddrPort("[::1]:9") // not of this socket
		}
	}
	return pkts
}

// requireTrains holds the trains of w against the packets that they must carry: all those
// of this socket, each once, in the order of each address, and within every limit.
func requireTrains(t *rapid.T, w *sender, pkts []Packet, room int) {
	unplaced := map[netip.AddrPort][]Packet{} // in order
	total := 0
	for _, p := range pkts {
		if p.Addr.Addr().Is4() {
			unplaced[p.Addr] = append(unplaced[p.Addr], p)
			total++
		}
	}
	for i := range w.trains {
		tr := &w.trains[i]
		require.Len(t, tr.vectors, tr.packets*tr.pieces)
		require.LessOrEqual(t, tr.packets, maxTrain)
		bytes := 0
		for j := range tr.packets {
			p, pieces := unplaced[tr.addr][0], tr.packet(j)
			unplaced[tr.addr] = unplaced[tr.addr][1:]
			require.Same(t, unsafe.SliceData(p.Buf), pieces[0].Base)
			require.EqualValues(t, p.N, pieces[0].Len)
			if len(p.Tail) > 0 {
				require.Len(t, pieces, 2)
				require.Same(t, unsafe.SliceData(p.Tail), pieces[1].Base)
			}
			n := tr.length(j)
			require.Equal(t, p.N+len(p.Tail), n)
			bytes += n
			total--
			if j < tr.packets-1 {
				require.Equal(t, tr.size, n)
			} else {
				require.LessOrEqual(t, n, tr.size)
				require.True(t, n > 0 || j == 0)
			}
		}
		require.Equal(t, bytes, tr.bytes)
		if tr.packets > 1 {
			require.LessOrEqual(t, bytes, min(maxTrainBytes, room/2))
		}
	}
	require.Zero(t, total)
}

// Kernels before 6.9 cut no more packets than maxTrain: they refuse longer trains, and the
// sender would make no more of them.
func TestTrainsEnd(t *testing.T) {
	var w sender
	w.init(&Options{Batch: 64}, unix.AF_INET, 1<<20, true, new(counters))
	var pkts []Packet
	for range 2*maxTrain + 1 {
		pkts = append(pkts, packetTo(netip.MustParseAddrPort("127.0.0.1:9"), "x"))
	}
	require.Equal(t, len(pkts), w.fill(pkts))
	var packets []int
	for i := range w.trains {
		packets = append(packets, w.trains[i].packets)
	}
	require.Equal(t, []int{maxTrain, maxTrain, 1}, packets)
}

func TestManyAddressesInTurnCostNoLongSearch(t *testing.T) {
	var w sender
	w.init(&Options{Batch: 64}, unix.AF_INET, 1<<20, true, new(counters))
	var pkts []Packet
	for i := range 2 * (openTrains + 1) {
		at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, byte(i % (openTrains + 1))}), 9)
		pkts = append(pkts, packetTo(at, "x"))
	}
	require.Equal(t, len(pkts), w.fill(pkts))
	require.Len(t, w.trains, len(pkts))
	require.Equal(t, openTrains, w.fill(pkts[:openTrains]))
	require.Len(t, w.trains, openTrains)
}

// controlMessage appends a control message.
func controlMessage(b []byte, level, kind int32, data ...byte) []byte {
	m := make([]byte, unix.CmsgSpace(len(data)))
	copy(m[unix.CmsgLen(0):], data)
	at := 0
	if unix.SizeofPtr == 8 {
		binary.NativeEndian.PutUint64(m, uint64(unix.CmsgLen(len(data))))
		at = 8
	} else {
		binary.NativeEndian.PutUint32(m, uint32(unix.CmsgLen(len(data))))
		at = 4
	}
	binary.NativeEndian.PutUint32(m[at:], uint32(level))
	binary.NativeEndian.PutUint32(m[at+4:], uint32(kind))
	return append(b, m...)
}

func number(n int32) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(n)) }

func TestControlMessagesAreFoundAmongOthers(t *testing.T) {
	b := controlMessage(nil, unix.SOL_IP, unix.IP_TOS, 1)
	b = controlMessage(b, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, number(7)...)
	b = controlMessage(b, unix.SOL_UDP, unix.UDP_GRO, number(1200)...)
	require.Equal(t, controlInfo{drops: 7, hasDrops: true, segment: 1200}, parseControl(b))
	require.Equal(t, controlInfo{drops: 7, hasDrops: true}, parseControl(b[:len(b)-8]), "cut off")
	require.Equal(t, controlInfo{}, parseControl(controlMessage(nil, unix.SOL_UDP, unix.UDP_GRO, number(-1)...)))
	require.Equal(t, controlInfo{}, parseControl(controlMessage(nil, unix.SOL_UDP, unix.UDP_GRO, 1, 2)))
}

// FuzzCoalesced splits messages according to arbitrary control messages.
func FuzzCoalesced(f *testing.F) {
	f.Add(controlMessage(nil, unix.SOL_UDP, unix.UDP_GRO, number(100)...), uint16(1000), 8)
	f.Add(controlMessage(controlMessage(nil, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, number(1)...), unix.SOL_UDP, unix.UDP_GRO, number(3)...), uint16(10), 1)
	f.Add([]byte{1, 2, 3}, uint16(0), 3)
	f.Fuzz(func(t *testing.T, control []byte, length uint16, size int) {
		info := parseControl(control)
		require.GreaterOrEqual(t, info.segment, 0)
		whole := make([]byte, length)
		for i := range whole {
			whole[i] = byte(i * 7)
		}
		var r receiver
		r.count, r.longest = new(counters), maxDatagram
		r.arrivals = append(r.arrivals, newArrival(whole, info.segment))
		segment := r.arrivals[0].size
		var back []byte
		pkts := room(1 + int(uint(size)%80))
		for r.delivered < len(r.arrivals) {
			r.begin(pkts)
			r.deliver()
			n, err := r.end()
			require.NoError(t, err)
			require.Positive(t, n)
			for _, p := range pkts[:n] {
				require.LessOrEqual(t, p.N, segment)
				require.True(t, p.N == segment || len(back)+p.N == len(whole))
				require.Len(t, p.Buf, cap(p.Buf), "to append to it would overwrite the next packet")
				back = append(back, p.Buf...)
			}
		}
		require.Equal(t, whole, append([]byte{}, back...))
	})
}

// Each packet of a refused train is tried by itself if the train may be the reason. A packet
// that is refused for another reason would be refused again.
func TestPacketsOfARefusedTrainAreTriedAlone(t *testing.T) {
	to := listen(t, "127.0.0.1:0", Options{}).LocalAddr()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	require.NoError(t, err)
	defer func() { _ = unix.Close(fd) }()
	for errno, alone := range map[unix.Errno]bool{unix.EINVAL: true, unix.EIO: true, unix.EMSGSIZE: true, unix.EOPNOTSUPP: true, unix.ENOBUFS: false} {
		var w sender
		w.init(&Options{Batch: 1}, unix.AF_INET, 1<<20, true, new(counters))
		require.Equal(t, 3, w.fill([]Packet{packetTo(to, "x"), packetTo(to, "y"), packetTo(to, "z")}))
		want := 0
		if alone {
			want = 3
		}
		require.Equal(t, want, w.retry(uintptr(fd), 0, errno), "%v: bytes", errno)
		require.Equal(t, want, w.sent, "%v", errno)
		require.Equal(t, !alone, w.offload, "%v", errno)
	}
}
