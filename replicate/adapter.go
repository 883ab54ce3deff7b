package replicate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc64"
	"io"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/internal/session"
)

// adapter is an application as the engine calls it. Its state is the sessions with the
// application's state behind them.
type adapter struct {
	app      Application
	sessions *session.Table
	delivery broadcast.Delivery       // being applied
	command  func(command []byte) any // applies its command, without an allocation for each
	sum      func(command []byte) uint64
}

var limits = session.Limits{Sessions: MaxSessions, Window: SessionWindow, Bytes: SessionResults}

func newAdapter(app Application) *adapter {
	a := &adapter{app: app, sessions: session.NewTable(limits), sum: session.Sum}
	if r, ok := app.(Recognizer); ok {
		a.sum = r.Recognize
	}
	a.command = func(command []byte) any {
		d := &a.delivery
		return a.app.Apply(Operation{ID: d.ID, Command: command, Stamp: d.Stamp, Deviation: d.Deviation})
	}
	return a
}

// Apply implements [engine.Application].
func (a *adapter) Apply(d broadcast.Delivery) any {
	a.delivery = d
	defer func() { a.delivery = broadcast.Delivery{} }() // let go of the payload
	return a.sessions.Apply(session.ID{Node: d.Sender, Boot: d.Boot, Sequence: d.Sequence}, d.Payload, a.command, a.sum)
}

// Save implements [engine.Application].
func (a *adapter) Save(w io.Writer) error {
	table := a.sessions.Append(nil)
	if _, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(table))), table...)); err != nil {
		return err
	}
	return a.app.Snapshot(w)
}

// Load implements [engine.Application].
func (a *adapter) Load(r io.Reader) (err error) {
	if a.sessions, err = readSessions(r); err != nil {
		return err
	}
	return a.app.Restore(r)
}

// readSessions reads the sessions in front of a state.
func readSessions(r io.Reader) (*session.Table, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, fmt.Errorf("sessions: %w", err)
	}
	var table bytes.Buffer // grows as bytes come: the size may be wrong
	if _, err := io.CopyN(&table, r, int64(binary.BigEndian.Uint32(size[:]))); err != nil {
		return nil, fmt.Errorf("sessions: %w", errors.Join(err, io.ErrUnexpectedEOF))
	}
	return session.Parse(limits, table.Bytes())
}

// Merge implements [engine.Application].
func (a *adapter) Merge(branches []replica.Branch) error {
	list := make([]Branch, len(branches))
	readers := make([]*replica.Reader, len(branches))
	tables := make([]*session.Table, len(branches))
	for i, b := range branches {
		r := b.State.Reader()
		var err error
		if tables[i], err = readSessions(r); err != nil {
			return err
		}
		list[i], readers[i] = Branch{Members: b.Members, State: r}, r
	}
	a.sessions = session.Merge(limits, tables)
	if err := a.app.(Merger).Merge(list); err != nil {
		return err
	}
	for _, r := range readers {
		if err := r.Err(); err != nil { // the application need not pass it on
			return err
		}
	}
	return nil
}

// Hash implements [engine.Hasher].
func (a *adapter) Hash() uint64 {
	return crc64.Update(a.app.(Hasher).Hash(), crc64.MakeTable(crc64.ISO), a.sessions.Append(nil))
}
