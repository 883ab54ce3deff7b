package journal

import (
	"encoding/binary"
	"hash/crc32"
)

// MaxBatch is the size in bytes of the largest batch.
const MaxBatch = 1 << 30

const (
	// batchMark begins every batch.
	batchMark = 0xfa17_109b
	// headBytes is the size of the fields before the records of a batch.
	headBytes = 36
	// align divides the offset of every batch.
	align = 4
	// followed is the count of a batch that ends a segment that another one follows.
	followed = 1<<32 - 1
)

var table = crc32.MakeTable(crc32.Castagnoli)

// Batch is a list of records in the form in which they are written. The zero value is
// empty.
type Batch struct {
	bytes []byte // the fields and the records
	count int
}

// Add adds a record, of which it keeps a copy.
func (b *Batch) Add(record []byte) {
	if len(b.bytes) == 0 {
		b.bytes = append(b.bytes, make([]byte, headBytes)...)
	}
	b.bytes = binary.AppendUvarint(b.bytes, uint64(len(record)))
	b.bytes = append(b.bytes, record...)
	b.count++
}

// Count returns the number of records.
func (b *Batch) Count() int { return b.count }

// Size returns the size of the records in bytes, with their lengths.
func (b *Batch) Size() int { return max(0, len(b.bytes)-headBytes) }

// Reset removes all records, and keeps the memory for others.
func (b *Batch) Reset() { b.bytes, b.count = b.bytes[:0], 0 }

// head is the fields of a batch.
type head struct {
	length  uint32
	first   uint64
	flushed uint64
	count   uint32
	chain   uint32
}

// space returns how many bytes the records take, up to the next batch.
func (h *head) space() int64 { return roundUp(int64(h.length)) }

func roundUp(n int64) int64 { return (n + align - 1) &^ (align - 1) }

// seal fills in the fields, and returns the bytes to write at an offset of a segment,
// and the checksum that the next batch continues.
func (b *Batch) seal(s seed, chain uint32, offset int64, h head) ([]byte, uint32) {
	if len(b.bytes) == 0 {
		b.bytes = append(b.bytes, make([]byte, headBytes)...)
	}
	h.length = uint32(len(b.bytes) - headBytes)
	whole := b.bytes
	for len(whole)%align != 0 {
		whole = append(whole, 0)
	}
	b.bytes = whole[:len(b.bytes)]
	binary.BigEndian.PutUint32(whole, batchMark)
	binary.BigEndian.PutUint32(whole[4:], h.length)
	binary.BigEndian.PutUint64(whole[8:], h.first)
	binary.BigEndian.PutUint64(whole[16:], h.flushed)
	binary.BigEndian.PutUint32(whole[24:], h.count)
	sum := link(chain, whole[:28], whole[headBytes:])
	binary.BigEndian.PutUint32(whole[28:], sum)
	binary.BigEndian.PutUint32(whole[32:], s.check(offset, whole[:32]))
	return whole, sum
}

// link returns the checksum of a batch that follows one with the checksum chain.
func link(chain uint32, fields, records []byte) uint32 {
	return crc32.Update(crc32.Update(chain, table, fields), table, records)
}

// parseHead reads the fields of a batch at an offset. It reports false unless they were
// written there, for this segment.
func parseHead(s seed, offset int64, b []byte) (h head, ok bool) {
	if binary.BigEndian.Uint32(b) != batchMark || binary.BigEndian.Uint32(b[32:]) != s.check(offset, b[:32]) {
		return h, false
	}
	return head{length: binary.BigEndian.Uint32(b[4:]), first: binary.BigEndian.Uint64(b[8:]),
		flushed: binary.BigEndian.Uint64(b[16:]), count: binary.BigEndian.Uint32(b[24:]), chain: binary.BigEndian.Uint32(b[28:])}, true
}

// seed is what distinguishes the batches of a segment from those of any other, and
// from copies of them inside of records.
type seed uint32

func (s seed) check(offset int64, fields []byte) uint32 {
	at := binary.BigEndian.AppendUint64(nil, uint64(offset))
	return crc32.Update(crc32.Update(uint32(s), table, at), table, fields)
}

// records calls f with each of the records of a batch. It reports false if they are
// not count records.
func records(b []byte, count uint32, f func(record []byte) error) (ok bool, err error) {
	for ; count > 0; count-- {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return false, nil
		}
		if err := f(b[n : n+int(size)]); err != nil {
			return true, err
		}
		b = b[n+int(size):]
	}
	return len(b) == 0, nil
}
