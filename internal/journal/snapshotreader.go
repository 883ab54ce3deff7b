package journal

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
)

// A SnapshotReader reads the content of a snapshot. Bytes that it returns have been
// checked, piece by piece.
type SnapshotReader struct {
	path    string
	file    File
	journal uint64
	r       *bufio.Reader
	offset  int64
	sum     uint32
	size    uint64
	digest  hash.Hash
	piece   []byte // what is left of it
	buffer  []byte
	err     error
}

// Snapshot returns the content of the snapshot, and the number of the last record that
// it stands for; 0 and nil if there is none. A read fails with a [*DamagedError].
func (j *Journal) Snapshot() (number uint64, r *SnapshotReader, err error) {
	number = j.snapshotted()
	if number == 0 {
		return 0, nil, nil
	}
	r, err = openSnapshot(j.disk, nameOf(snapshotPrefix, number))
	return number, r, err
}

func openSnapshot(d Disk, name string) (*SnapshotReader, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r := &SnapshotReader{path: d.Path(name), file: f, r: bufio.NewReaderSize(io.NewSectionReader(f, 0, size), pieceBytes+16), digest: sha256.New()}
	if err := r.begin(name); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *SnapshotReader) damaged(what string) error { return &DamagedError{r.path, r.offset, what} }

// take reads bytes, and returns a fault if there are not so many.
func (r *SnapshotReader) take(n int) ([]byte, error) {
	if cap(r.buffer) < n {
		r.buffer = make([]byte, n)
	}
	b := r.buffer[:n]
	if _, err := io.ReadFull(r.r, b); err != nil {
		if endOfFile(err) == nil {
			return nil, r.damaged("it ends")
		}
		return nil, err
	}
	return b, nil
}

func (r *SnapshotReader) begin(name string) error {
	b, err := r.take(snapshotBytes)
	if err != nil {
		return err
	}
	number, _ := parseName(snapshotPrefix, name)
	r.sum = crc32.Checksum(b[:snapshotBytes-4], table)
	if string(b[:16]) != snapshotMagic || binary.BigEndian.Uint32(b[32:]) != r.sum || binary.BigEndian.Uint64(b[24:]) != number {
		return r.damaged("it does not begin as the snapshot of its name")
	}
	r.journal = binary.BigEndian.Uint64(b[16:])
	r.offset = snapshotBytes
	return nil
}

// Read implements [io.Reader].
func (r *SnapshotReader) Read(p []byte) (int, error) {
	for len(r.piece) == 0 && r.err == nil {
		r.err = r.next()
	}
	if len(r.piece) > 0 {
		n := copy(p, r.piece)
		r.piece = r.piece[n:]
		return n, nil
	}
	return 0, r.err
}

// next reads a piece. It returns [io.EOF] after the last one.
func (r *SnapshotReader) next() error {
	b, err := r.take(4)
	if err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(b)
	if size > pieceBytes {
		return r.damaged("a piece is too long")
	}
	length := int(size)
	r.sum = crc32.Update(r.sum, table, b)
	if b, err = r.take(length + 4); err != nil {
		return err
	}
	r.sum = crc32.Update(r.sum, table, b[:length])
	if binary.BigEndian.Uint32(b[length:]) != r.sum {
		return r.damaged("the checksum of a piece is wrong")
	}
	r.offset += int64(length) + 8
	if length == 0 {
		return r.finish()
	}
	r.size += uint64(length)
	r.digest.Write(b[:length])
	r.piece = b[:length]
	return nil
}

// finish checks the size and the digest.
func (r *SnapshotReader) finish() error {
	want := r.digest.Sum(binary.BigEndian.AppendUint64(nil, r.size))
	want = binary.BigEndian.AppendUint32(want, crc32.Update(r.sum, table, want))
	b, err := r.take(footBytes)
	switch {
	case err != nil:
		return err
	case string(b) != string(want):
		return r.damaged("its size, its digest or its checksum is wrong")
	}
	if _, err := r.r.ReadByte(); err == nil {
		return r.damaged("it goes on after its end")
	}
	return io.EOF
}

// Close closes the file.
func (r *SnapshotReader) Close() error { return r.file.Close() }
