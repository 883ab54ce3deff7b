package fence

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/durable"
	"github.com/failaware/failaware/leader/edict"
	"github.com/failaware/failaware/timed"
)

// at returns an edict of the round with the given number.
func at(number int) *edict.Edict {
	return &edict.Edict{Epoch: 1, Stamps: []edict.Stamp{{Node: 1, Counter: 1, Boot: 7, At: timed.Instant(number)}}, Counter: 1}
}

func open(t testing.TB, path string) *Fence {
	t.Helper()
	f, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func nothing(edict.Verdict) error { return nil }

func TestFenceSurvivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fence")
	f := open(t, path)
	_, err := Open(path)
	require.ErrorIs(t, err, ErrInUse)
	for _, name := range []string{"b", "a", "with \"quotes\"\n"} {
		verdict, err := f.Do(name, at(10), edict.Digest{}, nothing)
		require.NoError(t, err)
		require.Equal(t, edict.Obey, verdict)
	}
	require.NoError(t, f.Close())
	_, err = f.Do("a", at(11), edict.Digest{}, nothing)
	require.ErrorIs(t, err, ErrClosed)

	f = open(t, path)
	held, ok := f.Latest("with \"quotes\"\n")
	require.True(t, ok && held.Equal(at(10)))
	called := false
	_, err = f.Do("a", at(9), edict.Digest{}, func(edict.Verdict) error { called = true; return nil })
	require.ErrorIs(t, err, edict.ErrStale)
	require.False(t, called)
	verdict, err := f.Do("a", at(10), edict.Digest{}, nothing)
	require.NoError(t, err)
	require.Equal(t, edict.Repeated, verdict)
	failure := errors.New("the store's own")
	verdict, err = f.Do("a", at(11), edict.Digest{}, func(edict.Verdict) error { return failure })
	require.ErrorIs(t, err, failure)
	require.Equal(t, edict.Obey, verdict)
	require.NoError(t, f.Close())

	f = open(t, path)
	_, err = f.Do("a", at(10), edict.Digest{}, nothing)
	require.ErrorIs(t, err, edict.ErrStale, "an accepted edict counts even if obeying it failed")
}

func TestOpenRefusesDamagedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fence")
	f := open(t, path)
	_, err := f.Do("a", at(1), edict.Digest{}, nothing)
	require.NoError(t, err)
	_, err = f.Do("b", at(1), edict.Digest{}, nothing)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	content, err := durable.Read(path, kind)
	require.NoError(t, err)
	refused := func(b []byte) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, b, 0o600))
		_, err := Open(path)
		require.ErrorIs(t, err, ErrDamaged)
		require.ErrorContains(t, err, path)
	}
	for n := range good {
		refused(good[:n])
	}
	half := len(content) / 2
	for text, why := range map[string]string{
		"x": "a line does not begin with a name", `"a"` + "\n": `the edict of "a": `, `"a" x` + "\n": "not base64url",
		string(content[:half-3]): `the edict of "`, string(content[half:]) + string(content[:half]): "out of order", string(content) + "\n": "begin with a name",
	} {
		require.NoError(t, durable.Write(path, kind, []byte(text)))
		_, err := Open(path)
		require.ErrorIs(t, err, ErrDamaged, text)
		require.ErrorContains(t, err, why, text)
	}
	require.NoError(t, os.WriteFile(path, good, 0o600))
	open(t, path)
}

func TestOpenTellsWhyItFails(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "none", "fence"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NotErrorIs(t, err, ErrInUse)
	path := filepath.Join(dir, "fence")
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err = Open(path)
	require.Error(t, err, "there is no file to read")
	require.NotErrorIs(t, err, ErrDamaged)
}

// recordedFirst requires that an edict is on disk when it is obeyed.
func recordedFirst(t testing.TB) {
	path := filepath.Join(t.TempDir(), "fence")
	f := open(t, path)
	_, err := f.Do("a", at(1), edict.Digest{}, func(edict.Verdict) error {
		content, err := durable.Read(path, kind)
		require.NoError(t, err)
		v, err := parse(string(content))
		require.NoError(t, err)
		held, ok := v.Latest("a")
		require.True(t, ok && held.Equal(at(1)))
		return nil
	})
	require.NoError(t, err)
}

func TestEdictIsOnDiskBeforeObeyed(t *testing.T) { recordedFirst(t) }

// closesLast requires that Close returns, and the file is unlocked, only when the
// edict in progress has been obeyed.
func closesLast(t testing.TB) {
	path := filepath.Join(t.TempDir(), "fence")
	f := open(t, path)
	closed, inside, last, waiting := make(chan error), make(chan struct{}), make(chan error, 1), make(chan error, 1)
	verdict, err := f.Do("a", at(1), edict.Digest{}, func(edict.Verdict) error {
		go func() {
			_, err := f.Do("a", at(2), edict.Digest{}, nothing)
			waiting <- err
		}()
		for f.users("a") < 2 {
			runtime.Gosched()
		}
		go func() {
			close(inside)
			closed <- f.Close()
		}()
		<-inside
		for f.isOpen() {
			runtime.Gosched()
		}
		_, err := Open(path)
		require.ErrorIs(t, err, ErrInUse, "an edict is being obeyed")
		_, err = f.Do("b", at(1), edict.Digest{}, nothing)
		last <- err
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, edict.Obey, verdict)
	require.ErrorIs(t, <-last, ErrClosed)
	require.ErrorIs(t, <-waiting, ErrClosed, "it waited")
	require.NoError(t, <-closed)
	require.NoError(t, f.Close(), "again")
	require.NoError(t, open(t, path).Close())
}

func (f *Fence) isOpen() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.closed
}

// users returns how many edicts of a name are obeyed or wait.
func (f *Fence) users(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.names[name].users
}

func TestCloseWaitsForTheEdictInProgress(t *testing.T) { closesLast(t) }

func TestFailedWriteIsNotObeyed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "fence")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	f := open(t, path)
	_, err := f.Do("a", at(1), edict.Digest{}, nothing)
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Dir(path), filepath.Join(dir, "gone")))
	for _, name := range []string{"a", "b"} {
		verdict, err := f.Do(name, at(3), edict.Digest{}, func(edict.Verdict) error { t.Error("obeyed"); return nil })
		require.ErrorIs(t, err, os.ErrNotExist)
		require.Equal(t, edict.Refused, verdict)
	}
	held, _ := f.Latest("a")
	require.True(t, held.Equal(at(1)))
	_, known := f.Latest("b")
	require.False(t, known)
	require.NoError(t, os.Rename(filepath.Join(dir, "gone"), filepath.Dir(path)))
	verdict, err := f.Do("a", at(2), edict.Digest{}, nothing)
	require.NoError(t, err)
	require.Equal(t, edict.Obey, verdict)
}

// Concurrent edicts of one name are obeyed one at a time and in order. Edicts of
// different names do not wait for each other.
func TestDoSerializesEdictsOfOneName(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "fence"))
	const each = 20
	latest := [2]int{}
	busy := [2]sync.Mutex{}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for n := 1; n <= each; n++ {
				k := (g + n) % 2
				_, err := f.Do([]string{"a", "b"}[k], at(n), edict.Digest{}, func(v edict.Verdict) error {
					if !busy[k].TryLock() {
						t.Error("two at a time")
						return nil
					}
					defer busy[k].Unlock()
					if n < latest[k] || v == edict.Obey && n == latest[k] {
						t.Errorf("%d after %d", n, latest[k])
					}
					latest[k] = n
					return nil
				})
				if err != nil && !errors.Is(err, edict.ErrStale) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Empty(t, f.names)
	inside, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = f.Do("a", at(each+1), edict.Digest{}, func(edict.Verdict) error { inside <- struct{}{}; <-inside; return nil })
	}()
	<-inside
	_, err := f.Do("b", at(each+1), edict.Digest{}, nothing)
	require.NoError(t, err)
	inside <- struct{}{}
	<-done
}

// A fence has room for as many names as its verifier, however large the edicts are.
func TestAFullFenceTakesEdicts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fence")
	f := open(t, path)
	large := func(at timed.Instant) *edict.Edict {
		e := &edict.Edict{Epoch: 1<<64 - 1, Counter: 1<<64 - 1}
		for id := timed.NodeID(1); id != 0; id++ {
			e.Stamps = append(e.Stamps, edict.Stamp{Node: id, Counter: 1<<64 - 1, Boot: 1<<64 - 1, At: at})
		}
		return e
	}
	name := func(i int) string { return strings.Repeat("\x01", edict.MaxName-4) + fmt.Sprintf("%04d", i) }
	for i := range edict.MaxNames - 1 {
		require.NoError(t, f.verifier.Remember(name(i), large(1<<61)))
	}
	for i := range 2 {
		_, err := f.Do(name(edict.MaxNames-1), large(1<<61+timed.Instant(i)), edict.Digest{}, nothing)
		require.NoError(t, err)
	}
	_, err := f.Do("another", at(1), edict.Digest{}, nothing)
	require.ErrorIs(t, err, edict.ErrName)
	require.NoError(t, f.Close())
	again := open(t, path)
	got, ok := again.Latest(name(7))
	require.True(t, ok)
	require.Equal(t, *large(1 << 61), got)
}

// lostFile loses the file of a fence, before and after its first edict. Only a file that has held an
// edict is missed, and one of an earlier build, whose lock says nothing, from its next edict on.
func lostFile(t testing.TB) {
	path := filepath.Join(t.TempDir(), "fence")
	accept := func(counter uint64) {
		f, err := Open(path)
		require.NoError(t, err)
		e := &edict.Edict{Epoch: 1, Counter: counter, Stamps: []edict.Stamp{{Node: 1, Counter: 1, Boot: 9, At: 1}}}
		_, err = f.Do("name", e, e.Digest, func(edict.Verdict) error { return nil })
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	f, err := Open(path)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	accept(1)
	require.NoError(t, os.Truncate(path+".lock", 0)) // as an earlier build leaves it
	accept(2)
	held, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	_, err = Open(path)
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, path+".lock")
	require.NoError(t, os.WriteFile(path, held, 0o600))
	accept(3)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Remove(path+".lock"))
	accept(1)
}

func TestALostFileIsNoticed(t *testing.T) { lostFile(t) }
