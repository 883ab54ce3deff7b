package journal

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strconv"
	"strings"
)

// Names of files.
const (
	segmentPrefix  = "log-"
	snapshotPrefix = "snapshot-"
	unnamed        = ".new" // is appended to the name of a file until it counts
)

// nameOf returns the name of the file that begins with, or ends with, a record.
func nameOf(prefix string, number uint64) string { return fmt.Sprintf("%s%016x", prefix, number) }

// parseName returns the number in a file's name.
func parseName(prefix, name string) (number uint64, ok bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	number, err := strconv.ParseUint(digits, 16, 64)
	return number, ok && err == nil && nameOf(prefix, number) == name
}

const (
	segmentMagic = "failaware log 1\n"
	segmentBytes = 16 + 8 + 8 + 4 + 4 // of the header
)

// origin is the header of a segment.
type origin struct {
	journal uint64
	first   uint64 // the number of the first record
	chain   uint32 // the checksum of the batch before
}

func (o *origin) encode() []byte {
	b := []byte(segmentMagic)
	b = binary.BigEndian.AppendUint64(b, o.journal)
	b = binary.BigEndian.AppendUint64(b, o.first)
	b = binary.BigEndian.AppendUint32(b, o.chain)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, table))
}

func (o *origin) seed() seed { return seed(crc32.Checksum(o.encode(), table)) }

func parseOrigin(b []byte) (o origin, wrong string) {
	if len(b) < segmentBytes || string(b[:16]) != segmentMagic {
		return o, "it does not begin as a segment of a journal"
	}
	o = origin{binary.BigEndian.Uint64(b[16:]), binary.BigEndian.Uint64(b[24:]), binary.BigEndian.Uint32(b[32:])}
	if binary.BigEndian.Uint32(b[36:]) != crc32.Checksum(b[:36], table) {
		return o, "the checksum of its header is wrong"
	}
	return o, ""
}

// segment is one file of batches.
type segment struct {
	origin
	name string
	seed seed
	file File
	// end is where the next batch goes, and flushed up to where the file was flushed.
	end, flushed int64
	next         uint64 // the number of the next record
	sum          uint32 // the checksum of the last batch
	closed       bool   // another segment follows
	// records is where the last batch with records ends, and recordsSum its checksum, as a scan
	// has found them. Marks follow, if anything.
	records    int64
	recordsSum uint32
}

// openSegment opens a file and reads its header.
func openSegment(d Disk, name string) (*segment, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	b := make([]byte, segmentBytes)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, f.Close())
	}
	o, wrong := parseOrigin(b[:n])
	if number, _ := parseName(segmentPrefix, name); wrong == "" && number != o.first {
		wrong = fmt.Sprintf("it begins with record %d", o.first)
	}
	if wrong != "" {
		return nil, errors.Join(&DamagedError{d.Path(name), 0, wrong}, f.Close())
	}
	return &segment{origin: o, name: name, seed: o.seed(), file: f, end: segmentBytes, next: o.first, sum: o.chain}, nil
}

// createSegment makes a segment. Once it has its name, all of it is on the disk. After an error,
// nothing takes room there. Only Create opens a file: if no more can be opened, nothing has changed.
func createSegment(d Disk, o origin, size int64) (*segment, error) {
	name := nameOf(segmentPrefix, o.first)
	f, err := d.Create(name + unnamed)
	if err != nil {
		return nil, err
	}
	if err = f.Allocate(size); err != nil {
		err = fmt.Errorf("%s needs %d bytes: %w", d.Path(name), size, err)
	} else {
		_, err = f.WriteAt(o.encode(), 0)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		f, err = publishOpen(d, f, name)
	}
	if err != nil {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
		_ = d.Remove(name + unnamed)
		return nil, err
	}
	return &segment{origin: o, name: name, seed: o.seed(), file: f, end: segmentBytes, flushed: segmentBytes, next: o.first, sum: o.chain}, nil
}

// renamesOpen says that the system renames open files.
var renamesOpen = runtime.GOOS != "windows"

// publishOpen gives a flushed file its name. The file that it returns is open, or nil.
func publishOpen(d Disk, f File, name string) (File, error) {
	if renamesOpen {
		return f, publish(d, name)
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if err := publish(d, name); err != nil {
		return nil, err
	}
	return d.Open(name)
}

// publish gives a flushed file its name.
func publish(d Disk, name string) error {
	if err := d.Rename(name+unnamed, name); err != nil {
		return err
	}
	return d.Sync()
}

// write writes a batch at the end. The caller flushes it.
func (s *segment) write(b *Batch, count uint32) error {
	bytes, sum := b.seal(s.seed, s.sum, s.end, head{first: s.next, flushed: uint64(s.flushed), count: count})
	if _, err := s.file.WriteAt(bytes, s.end); err != nil {
		return err
	}
	s.end += int64(len(bytes))
	s.sum = sum
	if count != followed {
		s.next += uint64(count)
	}
	return nil
}

// finish writes and flushes the end, which says that another segment follows. If the
// error matches [ErrFull], the segment has no end yet.
func (s *segment) finish() error {
	if err := s.write(new(Batch), followed); err != nil {
		return err
	}
	s.closed = true
	return errors.Join(s.file.Truncate(s.end), s.file.Sync())
}

// flush makes all batches durable.
func (s *segment) flush() error {
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.flushed = s.end
	return nil
}

// scan reads all batches from the beginning, and hands their records to visit, if that
// is not nil. It returns what ends them, at s.end: a fault, or the end of the file.
func (s *segment) scan(visit func(first uint64, h head, b []byte) error) (wrong string, err error) {
	size, err := s.file.Size()
	if err != nil {
		return "", err
	}
	s.end, s.flushed, s.next, s.sum, s.closed = segmentBytes, segmentBytes, s.first, s.chain, false
	s.records, s.recordsSum = s.end, s.sum
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, s.end, max(0, size-s.end)), int(min(256<<10, max(16, size))))
	fields := make([]byte, headBytes)
	var body []byte
	for {
		if _, err := io.ReadFull(r, fields); err != nil {
			return "it ends", endOfFile(err)
		}
		h, ok := parseHead(s.seed, s.end, fields)
		if !ok {
			return "no batch begins here", nil
		}
		if h.space() > size-s.end-headBytes {
			return "a batch does not end", nil
		}
		if int64(cap(body)) < h.space() {
			body = make([]byte, h.space())
		}
		body = body[:h.space()]
		if _, err := io.ReadFull(r, body); err != nil {
			return "it ends", endOfFile(err)
		}
		if link(s.sum, fields[:28], body) != h.chain || h.first != s.next {
			return "the checksum of a batch is wrong", nil
		}
		if h.count == followed {
			s.closed = true // the next segment continues the checksum of the batch before
			return "the segment is over", nil
		}
		s.end, s.flushed, s.sum, s.next = s.end+headBytes+h.space(), int64(h.flushed), h.chain, h.first+uint64(h.count)
		if h.count > 0 {
			s.records, s.recordsSum = s.end, s.sum
		}
		if visit != nil {
			if err := visit(h.first, h, body[:h.length]); err != nil {
				return "", err
			}
		}
	}
}

// endOfFile returns nil for errors that say that a file ends.
func endOfFile(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// tail is what stands in a segment after its last batch.
type tail struct {
	size    int64 // in bytes, up to the last one that is not zero
	flushed int64 // the offset up to which the file was flushed, as batches there say
}

// readTail looks for batches that begin at the end or later. After a fault, they tell
// whether what is faulty had been flushed.
func (s *segment) readTail() (t tail, err error) {
	size, err := s.file.Size()
	if err != nil {
		return t, err
	}
	const piece = 1 << 20
	b := make([]byte, min(piece, max(0, size-s.end))+headBytes)
	for at := s.end; at < size; at += piece {
		n, err := s.file.ReadAt(b, at)
		if endOfFile(err) != nil {
			return t, err
		}
		if used := len(bytes.TrimRight(b[:n], "\x00")); used > 0 {
			t.size = at + int64(used) - s.end
		} else {
			continue
		}
		for i := 0; i < piece && i+headBytes <= n; i += align {
			if binary.BigEndian.Uint32(b[i:]) != batchMark {
				continue
			}
			if h, ok := parseHead(s.seed, at+int64(i), b[i:i+headBytes]); ok {
				t.flushed = max(t.flushed, int64(h.flushed))
			}
		}
	}
	return t, nil
}

// rewrite writes once more what no batch says to be flushed. The flush of an earlier process
// may have failed. Then the system reads from its memory what the disk does not have, and
// another flush of that succeeds, because it writes nothing. A disk that has no room even for
// that proves nothing either, so the error can match [ErrFull].
func (s *segment) rewrite() error {
	b := make([]byte, max(0, min(s.end-s.flushed, 1<<20)))
	for at := s.flushed; at < s.end; at += int64(len(b)) {
		b = b[:min(s.end-at, int64(len(b)))]
		if _, err := s.file.ReadAt(b, at); err != nil {
			return err
		}
		if _, err := s.file.WriteAt(b, at); err != nil {
			return err
		}
	}
	return nil
}

// cut removes everything from the end on, so that nothing of it can ever be read.
func (s *segment) cut(size int64) error {
	err := s.rewrite()
	if errors.Is(err, ErrFull) && s.records <= s.flushed {
		// Only marks are not known to be flushed, and nobody relies on them.
		s.end, s.sum, err = s.records, s.recordsSum, nil
	}
	if err != nil {
		return err
	}
	if err := s.file.Truncate(s.end); err != nil {
		return err
	}
	if err := s.file.Allocate(size); err != nil && !errors.Is(err, ErrFull) {
		return err
	}
	return s.flush()
}
