package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/kv"
)

// prepare prepares a store of a kind in a directory.
func prepare(t *testing.T, dir string, k kv.Kind) error {
	node := failaware.Config{ID: 1, Broadcast: &failaware.BroadcastConfig{RequireQuorum: k == kv.Linearizable}}
	p, err := Prepare(node, Config{Kind: k, Dir: dir})
	if err == nil {
		require.NoError(t, p.Close())
	}
	return err
}

// oneKind reports whether a directory is of the kind of its first store, whatever is in its log.
func oneKind(t *testing.T) bool {
	dir := filepath.Join(t.TempDir(), "kv")
	require.NoError(t, prepare(t, dir, kv.Partitionable))
	require.NoError(t, prepare(t, dir, kv.Partitionable))
	return errors.Is(prepare(t, dir, kv.Linearizable), ErrKind)
}

func TestADirectoryIsOfOneKind(t *testing.T) {
	require.True(t, oneKind(t))
	dir := filepath.Join(t.TempDir(), "kv")
	require.NoError(t, prepare(t, dir, kv.Partitionable))
	require.ErrorContains(t, prepare(t, dir, kv.Linearizable), "a store that is partitionable, and this one is linearizable: run that one, export its keys")

	// That of an earlier build does not say it.
	require.NoError(t, os.Remove(filepath.Join(dir, kindFile)))
	require.NoError(t, prepare(t, dir, kv.Partitionable))
	require.ErrorIs(t, prepare(t, dir, kv.Linearizable), ErrKind)
	require.NoError(t, os.WriteFile(filepath.Join(dir, kindFile), []byte("no record"), 0o600))
	require.ErrorContains(t, prepare(t, dir, kv.Partitionable), "damaged")
}

// unnotedKind returns the error of a store in a new directory that cannot say its kind.
func unnotedKind(t *testing.T) error {
	dir := filepath.Join(t.TempDir(), "kv")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, kindFile+".new"), 0o700))
	return prepare(t, dir, kv.Partitionable)
}

// A store of the other kind could go on with what such a store writes.
func TestAStoreWhoseKindCannotBeNotedDoesNotStart(t *testing.T) {
	require.ErrorContains(t, unnotedKind(t), "the kind of the store cannot be noted")

	dir := filepath.Join(t.TempDir(), "kv")
	obstacle := filepath.Join(dir, kindFile+".new")
	require.NoError(t, os.MkdirAll(obstacle, 0o700))
	require.Error(t, prepare(t, dir, kv.Partitionable))
	require.NoError(t, os.Remove(obstacle))
	require.NoError(t, prepare(t, dir, kv.Partitionable), "it holds the directory no more")
}
