package replica

import (
	"cmp"
	"encoding/binary"
	"hash/crc64"
	"io"
	"math"
	"slices"
	"sort"

	"github.com/failaware/failaware/timed"
)

// A snapshot has most bytes in common with one made some operations earlier, perhaps at other
// offsets. So a snapshot is cut into content-defined blocks, and a transfer that starts over
// does not send the blocks that the receiver has from an abandoned attempt. The digest of the
// whole shows whether all blocks were right.

// block is a part of a snapshot up to end, named by its checksum.
type block struct{ id, end uint64 }

// cutter cuts a snapshot into blocks.
type cutter struct {
	size int // of a block on average, without least
	roll uint64
	sum  uint64
	fill int // bytes of the open block
}

var (
	crcTable = crc64.MakeTable(crc64.ECMA)
	gear     = func() (g [256]uint64) {
		for i := range g {
			x := uint64(i+1) * 0x9e3779b97f4a7c15
			x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
			x = (x ^ x>>27) * 0x94d049bb133111eb
			g[i] = x ^ x>>31
		}
		return g
	}()
)

// cut adds bytes to the open block, up to its end, and returns how many, and the name of
// the block if this was its end.
func (c *cutter) cut(p []byte) (n int, id uint64, ends bool) {
	least, most := c.size/4, c.size*4
	n = min(len(p), max(0, least-c.fill))
	roll, ending := c.roll, math.MaxUint64/uint64(c.size)
	for _, x := range p[n:max(n, min(len(p), most-c.fill))] {
		roll = roll<<1 + gear[x]
		if n++; roll <= ending { // once in size bytes on average
			ends = true
			break
		}
	}
	c.roll, ends = roll, ends || c.fill+n >= most
	c.sum = crc64.Update(c.sum, crcTable, p[:n])
	c.fill += n
	if id = c.sum; ends {
		*c = cutter{size: c.size}
	}
	return n, id, ends
}

// begin returns where a block begins.
func (c *Content) begin(i int) uint64 {
	if i == 0 {
		return 0
	}
	return c.blocks[i-1].end
}

// blockFrom returns the first block that begins at or after an offset.
func (c *Content) blockFrom(offset uint64) int {
	if offset == 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(c.blocks, offset, func(b block, to uint64) int {
		if b.end < to {
			return -1
		}
		return 1
	})
	return i + 1
}

// read returns the bytes of the block with a name, if there is one.
func (c *Content) read(id uint64) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	if c.named == nil {
		c.named = make([]int, len(c.blocks))
		for i := range c.named {
			c.named[i] = i
		}
		sort.Slice(c.named, func(i, j int) bool { return c.blocks[c.named[i]].id < c.blocks[c.named[j]].id })
	}
	at, ok := slices.BinarySearchFunc(c.named, id, func(i int, id uint64) int { return cmp.Compare(c.blocks[i].id, id) })
	if !ok {
		return nil, false
	}
	i := c.named[at]
	b := make([]byte, c.blocks[i].end-c.begin(i))
	_, err := io.ReadFull(io.NewSectionReader(c.bytes, int64(c.begin(i)), int64(len(b))), b)
	return b, err == nil
}

// mostBlocks limits the blocks that are remembered of a member.
const mostBlocks = 1 << 17

// dropIncoming drops received parts of snapshots. It keeps the largest as a spare, from which
// later transfers take blocks.
func (m *Replica) dropIncoming(drop func(*incoming) bool) {
	m.incoming = slices.DeleteFunc(m.incoming, func(p *incoming) bool {
		if !drop(p) {
			return false
		}
		if m.spare == nil || p.data.size >= m.spare.size {
			m.dropSpare()
			m.spare = p.data
		} else {
			p.data.Discard()
		}
		return true
	})
}

// MakeRoom gives up what has come of a snapshot and is not needed now. The disk is full.
func (m *Replica) MakeRoom() { m.dropSpare() }

// dropSpare gives up the spare. The source sends what was announced of it.
func (m *Replica) dropSpare() {
	if m.spare != nil {
		m.spare.Discard()
		m.spare = nil
	}
}

// announce tells the others which blocks this node has in its spare.
func (m *Replica) announce() {
	if m.spare == nil {
		return
	}
	for blocks := range slices.Chunk(m.spare.blocks, m.cfg.ChunkBytes/8) {
		var body []byte
		for _, b := range blocks {
			body = binary.BigEndian.AppendUint64(body, b.id)
		}
		m.broadcast(unordered, message{kind: kindBlocks, body: body})
	}
}

// takeBlocks records the blocks of a member.
func (m *Replica) takeBlocks(from timed.NodeID, c *message) {
	has := &m.peerBlocks[m.view.Set.Rank(from)]
	for b := c.body; len(b) >= 8 && len(*has) < mostBlocks; b = b[8:] {
		*has = append(*has, binary.BigEndian.Uint64(b))
	}
	slices.Sort(*has)
}

// common reports whether all receivers of a stream have a block.
func (m *Replica) common(s *stream, id uint64) bool {
	for i := range s.receivers {
		if _, ok := slices.BinarySearch(m.peerBlocks[m.view.Set.Rank(s.receivers[i].id)], id); !ok {
			return false
		}
	}
	return true
}

// nextBlocks returns the names of the next blocks of a stream that all receivers have, and
// the offset of their end. If there are none, it returns the end of the next piece.
func (m *Replica) nextBlocks(s *stream) (ids []byte, end uint64) {
	state := s.from.state
	i := state.blockFrom(s.next)
	end = s.next
	fits := func() bool { return len(ids)+8 <= m.cfg.ChunkBytes && end-s.next < uint64(m.cfg.Window)/4 }
	for j := i; j < len(state.blocks) && state.begin(i) == s.next && fits() && m.common(s, state.blocks[j].id); j++ {
		ids, end = binary.BigEndian.AppendUint64(ids, state.blocks[j].id), state.blocks[j].end
	}
	if len(ids) > 0 {
		return ids, end
	}
	end = min(state.size, s.next+uint64(m.cfg.ChunkBytes))
	for ; i < len(state.blocks) && state.begin(i) < end; i++ {
		if state.begin(i) > s.next && m.common(s, state.blocks[i].id) {
			end = state.begin(i)
		}
	}
	return nil, end
}

// takeSame takes the next bytes of a snapshot from blocks of the spare. If a block is missing,
// it asks the source for the bytes.
func (m *Replica) takeSame(p *incoming, c *message) bool {
	offset := c.offset
	for ids := c.body; len(ids) >= 8; ids = ids[8:] {
		b, ok := m.spare.read(binary.BigEndian.Uint64(ids))
		if !ok || uint64(len(b)) > p.size-offset {
			m.rewind(p)
			return false
		}
		end := offset + uint64(len(b))
		if have := p.data.size; end > have && !m.store(p, b[have-offset:]) {
			return false
		}
		offset = end
	}
	return true
}
