package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/internal/kv"
)

// The record of the kind of a store beside its state: the log of the state does not say it.
const kindFile = "kind"

var kindRecord = durable.Kind{Name: "store-kind", Version: 1}

// ErrKind: a directory has the state of a store of the other kind.
var ErrKind = errors.New("it is of a store of another kind")

// checkKind returns an error if a directory is of a store of another kind, and whether it says
// of which it is.
func checkKind(dir string, k kv.Kind) (known bool, err error) {
	b, err := durable.Read(filepath.Join(dir, kindFile), kindRecord)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case string(b) != k.String():
		return true, fmt.Errorf("%w: %s has the state of a store that is %s, and this one is %v: run that one, export its keys by 'failaware kv list --all -o json', "+
			"and import them into this one with an empty directory at each node", ErrKind, dir, b, k)
	}
	return true, nil
}

// noteKind notes the kind of a store in a directory that does not say it: it is new, or was
// written before directories did. Without that note, a store of the other kind could go on with
// the state, so no store does, also where the disk is full.
func noteKind(dir string, k kv.Kind) error {
	known, err := checkKind(dir, k)
	if known || err != nil {
		return err
	}
	if err := durable.Write(filepath.Join(dir, kindFile), kindRecord, []byte(k.String())); err != nil {
		return fmt.Errorf("the kind of the store cannot be noted: %w", err)
	}
	return nil
}
