package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io/fs"
	"slices"
)

const (
	snapshotMagic = "failaware state1"
	snapshotBytes = 16 + 8 + 8 + 4 // of the header
	pieceBytes    = 64 << 10       // of content in a piece
	footBytes     = 8 + sha256.Size + 4
)

// A Snapshot is a snapshot being written. It is safe to drop one after an error, or
// without a Commit.
type Snapshot struct {
	j      *Journal
	number uint64
	name   string
	file   File
	end    int64
	size   uint64
	sum    uint32
	digest hash.Hash
	piece  []byte // with its length in front
	err    error
}

// NewSnapshot begins a snapshot of what the first number records have led to. It fails
// unless these are on the disk, and more than the records of the snapshot before. The
// caller writes its content and calls [Snapshot.Commit], which makes it count. One snapshot
// at a time may be written.
func (j *Journal) NewSnapshot(number uint64) (*Snapshot, error) {
	if last, before := j.Last(), j.snapshotted(); number > last || number <= before {
		return nil, fmt.Errorf("journal: a snapshot of %d records: the disk has %d, and a snapshot of %d", number, last, before)
	}
	name := nameOf(snapshotPrefix, number)
	f, err := j.disk.Create(name + unnamed)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{j: j, number: number, name: name, file: f, digest: sha256.New(), piece: make([]byte, 4, 4+pieceBytes+4)}
	b := binary.BigEndian.AppendUint64([]byte(snapshotMagic), j.id)
	b = binary.BigEndian.AppendUint64(b, number)
	s.sum = crc32.Checksum(b, table)
	s.put(binary.BigEndian.AppendUint32(b, s.sum))
	return s, s.fault()
}

// MissingSnapshot returns the error of a caller whose records show that the snapshot of the
// first number records is lost, or a later one that took its place.
func (j *Journal) MissingSnapshot(number uint64) error {
	return &MissingError{j.disk.Path(nameOf(snapshotPrefix, number)), laterSnapshot, fmt.Sprintf("record %d and those behind it continue its state", number+1)}
}

// snapshotted returns the last record that the snapshot stands for.
func (j *Journal) snapshotted() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.snapshot
}

// Write implements [io.Writer].
func (s *Snapshot) Write(p []byte) (n int, err error) {
	for len(p) > 0 && s.err == nil {
		take := min(len(p), pieceBytes+4-len(s.piece))
		s.piece = append(s.piece, p[:take]...)
		p, n = p[take:], n+take
		if len(s.piece) == pieceBytes+4 {
			s.flushPiece()
		}
	}
	return n, s.err
}

// flushPiece writes the piece that is complete, or the last one, which is empty.
func (s *Snapshot) flushPiece() {
	content := s.piece[4:]
	s.digest.Write(content)
	s.size += uint64(len(content))
	binary.BigEndian.PutUint32(s.piece, uint32(len(content)))
	s.sum = crc32.Update(s.sum, table, s.piece)
	s.put(binary.BigEndian.AppendUint32(s.piece, s.sum))
	s.piece = s.piece[:4]
}

func (s *Snapshot) put(b []byte) {
	if s.err == nil {
		_, s.err = s.file.WriteAt(b, s.end)
		s.end += int64(len(b))
	}
}

// fault cleans up after an error.
func (s *Snapshot) fault() error {
	if s.err == nil {
		return nil
	}
	if s.file != nil {
		s.err = errors.Join(fmt.Errorf("journal: %w", about("write", s.j.disk.Path(s.name), s.err)),
			s.file.Close(), s.j.disk.Remove(s.name+unnamed))
		s.file = nil
	}
	return s.err
}

// Abandon ends a snapshot that is not wanted.
func (s *Snapshot) Abandon() {
	if s.err == nil {
		s.err = ErrClosed
	}
	_ = s.fault()
}

// Commit makes the snapshot durable. It then stands for the records before it, whose
// files are removed, and for earlier snapshots. After an error it may count or not.
func (s *Snapshot) Commit() error {
	if len(s.piece) > 4 {
		s.flushPiece()
	}
	s.flushPiece()
	foot := binary.BigEndian.AppendUint64(nil, s.size)
	foot = s.digest.Sum(foot)
	s.put(binary.BigEndian.AppendUint32(foot, crc32.Update(s.sum, table, foot)))
	if s.err == nil {
		s.err = s.file.Sync()
	}
	if err := s.fault(); err != nil {
		return err
	}
	err := s.file.Close()
	s.file, s.err = nil, ErrClosed
	if err == nil {
		err = publish(s.j.disk, s.name)
	}
	if err != nil {
		_ = s.j.disk.Remove(s.name + unnamed) // it may be what makes the disk full
		return fmt.Errorf("journal: %w", err)
	}
	s.truncate()
	return nil
}

// truncate removes the files of what the snapshot stands for. One that cannot be removed does no
// harm: it stays until the next snapshot, or the next [Open].
func (s *Snapshot) truncate() {
	j := s.j
	j.mu.Lock()
	if j.snapshot > 0 {
		j.useless = append(j.useless, nameOf(snapshotPrefix, j.snapshot))
	}
	j.snapshot = s.number
	for len(j.old) > 0 && j.old[0].next-1 <= s.number {
		j.useless, j.old = append(j.useless, j.old[0].name), j.old[1:]
	}
	j.mu.Unlock()
	j.useless = slices.DeleteFunc(j.useless, func(name string) bool {
		err := j.disk.Remove(name)
		return err == nil || errors.Is(err, fs.ErrNotExist)
	})
}
