package replicate_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/timed"
)

// numbersOnDisks are numbers with the state on disks. Each process has a directory: at the
// beginning it is a copy of that of the process before, as it was when this was killed.
type numbersOnDisks struct {
	*numbers
	system quorum.System
	dirs   [members]string
	joins  failaware.Set // nodes that have lost their disk
}

func (g *numbersOnDisks) start(id failaware.NodeID) {
	dir := g.dirs[id-1]
	c := failaware.Config{ID: id, Transport: g.net.Transport(), StateDir: filepath.Join(dir, "node"),
		Broadcast: &failaware.BroadcastConfig{RequireQuorum: true}}
	if c.JoinQuorum = g.joins.Has(id); !c.JoinQuorum {
		c.Quorum = g.system
	}
	g.places[id-1].restart(g.t, c, replicate.Config{Storage: filepath.Join(dir, "state")})
}

// kill kills nodes at one instant, and starts them again with what their disks had, or, if one
// is lost, with nothing: the quorums are those of the others when it comes back
// (docs/how-to/disasters.md). A process that goes on until it is closed reaches neither
// other nodes nor clients, nor the disk of its successor.
func (g *numbersOnDisks) kill(lost failaware.NodeID, ids ...failaware.NodeID) {
	var alone [][]failaware.NodeID
	for _, id := range ids {
		alone = append(alone, []failaware.NodeID{id})
		g.places[id-1].kill()
	}
	g.net.Partition(alone...)
	synctest.Wait() // no process writes while its disk is copied
	for _, id := range ids {
		next := g.t.TempDir()
		if id != lost {
			copyTree(g.t, next, g.dirs[id-1])
		}
		require.NoError(g.t, g.places[id-1].r.Close())
		require.NoError(g.t, os.RemoveAll(g.dirs[id-1]))
		g.dirs[id-1] = next
	}
	g.net.Heal()
	for _, id := range ids {
		if id != lost {
			g.start(id)
		}
	}
	if lost != failaware.NoNode {
		g.joins.Add(lost)
		g.change(everybody.Without(lost))
		g.start(lost)
		g.change(everybody)
	}
}

var everybody = timed.SetOf(1, 2, 3, 4, 5)

// change makes the majorities of voters the quorums.
func (g *numbersOnDisks) change(voters failaware.Set) {
	next, err := quorum.Majority(voters)
	require.NoError(g.t, err)
	for range 100 {
		for i := range g.places {
			ctx, cancel := context.WithTimeout(g.t.Context(), 5*time.Second)
			err = g.places[i].r.Node().ChangeQuorum(ctx, next)
			cancel()
			if err == nil {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	require.NoError(g.t, err)
}

// copyTree copies a directory, but for the room that is reserved behind what was written to a
// file.
func copyTree(t *testing.T, to, from string) {
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(name, 0o700)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		used, zeros := 0, make([]byte, 1<<16)
		for at := 0; at < len(b); at += len(zeros) {
			if end := min(at+len(zeros), len(b)); !bytes.Equal(b[at:end], zeros[:end-at]) {
				used = end
			}
		}
		return os.WriteFile(name, b[:used], 0o600)
	}))
}

// playNumbersOnDisks is playNumbers with nodes that are killed, some or all at once, and come
// back with their disks; one of them loses its disk. In half of the worlds this is when all are
// killed. atOnce counts the reads that sent nothing.
func playNumbersOnDisks(t *testing.T, seed uint64) (ok bool, known, atOnce int) {
	synctest.Test(t, func(t *testing.T) {
		system, err := quorum.Majority(everybody)
		require.NoError(t, err)
		g := &numbersOnDisks{numbers: newNumbers(t, seed, 50*time.Millisecond), system: system}
		for i := range g.dirs {
			g.dirs[i] = t.TempDir()
		}
		ok = g.play(seed, either, g.start, func() {
			g.split()
			g.kill(failaware.NoNode, g.shuffled()[:1+g.rnd.IntN(members)]...)
			g.split()
			g.kill(failaware.NoNode, g.shuffled()...)
			g.split()
			victims := g.shuffled()
			if seed%2 == 0 {
				victims = victims[:1]
			}
			g.kill(victims[0], victims...)
			g.split()
			g.kill(failaware.NoNode, g.shuffled()...)
			time.Sleep(g.bounds.Ready + 2*g.bounds.View)
			for i := range g.places {
				for _, by := range []way{leased, latest} {
					require.NoError(t, g.read(within(t, time.Minute), members+i, &g.places[i], by))
				}
			}
		})
		known, atOnce = g.known, g.atOnce
	})
	return ok, known, atOnce
}

// With disks, Submit, ReadLatest and ReadLeased are linearizable even when all processes are
// killed at once, and when a node loses its disk.
func TestQuorumsOnDisksAreLinearizable(t *testing.T) {
	worlds := uint64(3)
	if race.Enabled || testing.Short() {
		worlds = 1
	}
	for seed := range worlds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			ok, known, atOnce := playNumbersOnDisks(t, seed)
			require.True(t, ok)
			require.Greater(t, known, 50, "too few answers to tell anything")
			require.NotZero(t, atOnce, "no read by lease sent nothing")
			t.Log(known, "answers,", atOnce, "reads without a message")
		})
	}
}
