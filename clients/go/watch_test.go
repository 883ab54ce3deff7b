package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// keeper is a node with a store on a disk, which can be killed and started again.
type keeper struct {
	t    *testing.T
	args []string
	cmd  *exec.Cmd
}

func (k *keeper) start() {
	k.cmd = exec.Command(k.args[0], k.args[1:]...)
	require.NoError(k.t, k.cmd.Start())
}

func (k *keeper) kill() {
	_ = k.cmd.Process.Kill()
	_ = k.cmd.Wait()
}

// startKeeper starts a node with a store.
func startKeeper(t *testing.T) (*keeper, *ClientWithResponses) {
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "api")
	k := &keeper{t: t, args: []string{build(t, dir), "node", "--id", "1", "--listen", ports(t, 1)[0], "--api", socket,
		"--kv", "linearizable", "--quorum", "majority:1", "--state-dir", filepath.Join(dir, "state"), "--kv-dir", filepath.Join(dir, "kv")}}
	k.start()
	t.Cleanup(k.kill)
	c, err := New(Unix(socket))
	require.NoError(t, err)
	return k, c
}

// persistently writes a key as soon as the node takes it.
func persistently(ctx context.Context, t *testing.T, c *ClientWithResponses, key, value string) {
	s, err := OpenSession(ctx, c)
	for err != nil {
		require.NoError(t, ctx.Err(), "%v", err)
		s, err = OpenSession(ctx, c)
	}
	_, err = s.Put(ctx, KvPutParams{Key: key}, []byte(value))
	require.NoError(t, err)
}

// A watch goes on behind its last item when its node is killed and comes back, and ends with its
// context.
func TestAWatchGoesOn(t *testing.T) {
	k, c := startKeeper(t)
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	persistently(ctx, t, c, "a/1", "before")
	persistently(ctx, t, c, "b", "of no concern")
	prefix, current := "a/", true
	watched, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var said []string
	written := 0
	for change, err := range Watch(watched, KvWatchParams{Prefix: &prefix, Current: &current}, c) {
		if err != nil {
			require.EqualError(t, err, "enough")
			break
		}
		switch change.Kind {
		case Put, Item:
			said = append(said, fmt.Sprint(change.Kind, " ", *change.Key, " ", string(*change.Value)))
		case Delete, Reset, Complete:
			said = append(said, string(change.Kind))
		}
		switch {
		case change.Kind == Complete:
			persistently(ctx, t, c, "a/2", "new")
		case change.Kind == Put && written == 0:
			written++
			k.kill()
			k.start()
			persistently(ctx, t, c, "a/3", "")
		case change.Kind == Put && *change.Key == "a/3":
			stop(fmt.Errorf("enough"))
		}
	}
	require.Equal(t, []string{"reset", "item a/1 before", "complete", "put a/2 new", "put a/3 "}, said)
}

// What no node can answer ends a watch, and one node that is not there does not.
func TestAWatchThatIsRefused(t *testing.T) {
	k, c := startKeeper(t)
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	persistently(ctx, t, c, "a", "")
	nobody, err := New(Unix(filepath.Join(t.TempDir(), "nobody")))
	require.NoError(t, err)
	since := "no id"
	count := 0
	for _, err := range Watch(ctx, KvWatchParams{Since: &since}, nobody, c) {
		require.ErrorContains(t, err, "since")
		count++
	}
	require.Equal(t, 1, count)
	for _, err := range Watch(ctx, KvWatchParams{}) {
		require.ErrorContains(t, err, "needs a node")
	}
	for range Watch(ctx, KvWatchParams{}, c) {
		break // the caller has enough
	}
	res, err := c.GetStatusWithResponse(ctx)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode())
	k.kill()
}

// firstOf returns the first item of a watch at a node, within virtual minutes.
func firstOf(t *testing.T, node doer) KVChange {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for k, err := range Watch(ctx, KvWatchParams{}, node.client(t)) {
		require.NoError(t, err)
		return k
	}
	return KVChange{}
}

// A stream that breaks before its first item is gone on with where it began, not where the next
// one would: no change in between is lost.
func TestAWatchThatBreaksAtOnceGoesOnWhereItBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var from []string
		k := firstOf(t, func(q *http.Request) (*http.Response, error) {
			from = append(from, q.Header.Get("Last-Event-ID"))
			if len(from) > 1 {
				return says(http.StatusOK, `data: {"id": "9", "kind": "put", "key": "colour"}`+"\n\n")
			}
			res, err := says(http.StatusOK, "")
			res.Header.Set("Failaware-Last", "7")
			return res, err
		})
		require.Equal(t, "9", k.Id)
		require.Equal(t, []string{"", "7"}, from)
	})
}

// A stream of a node that has nothing to tell is not given up while its beats come.
func TestBeatsKeepAWatchAtItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		k := firstOf(t, func(q *http.Request) (*http.Response, error) {
			asked++
			r, w := io.Pipe()
			stop := context.AfterFunc(q.Context(), func() { _ = w.CloseWithError(q.Context().Err()) })
			go func() {
				defer stop()
				for range 20 {
					time.Sleep(15 * time.Second)
					_, _ = io.WriteString(w, ": beat\n\n")
				}
				_, _ = io.WriteString(w, `data: {"id": "9", "kind": "fresh"}`+"\n\n")
			}()
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: r}, nil
		})
		require.Equal(t, "9", k.Id)
		require.Equal(t, 1, asked)
	})
}

// A node that dies in the middle of an item has not sent it: a watch goes on before it.
func TestAnItemThatBreaksOffIsNone(t *testing.T) {
	const whole, broken = `data: {"id": "9", "kind": "put", "key": "colour"}` + "\n\n", `data: {"id": "10", "kind": "put", "ke`
	synctest.Test(t, func(t *testing.T) {
		var from []string
		node := doer(func(q *http.Request) (*http.Response, error) {
			if from = append(from, q.Header.Get("Last-Event-ID")); len(from) == 1 {
				return says(http.StatusOK, whole+broken)
			}
			return says(http.StatusOK, strings.Replace(whole, "9", "10", 1))
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		var ids []string
		for k, err := range Watch(ctx, KvWatchParams{}, node.client(t)) {
			require.NoError(t, err)
			if ids = append(ids, k.Id); len(ids) == 2 {
				break
			}
		}
		require.Equal(t, []string{"9", "10"}, ids)
		require.Equal(t, []string{"", "9"}, from)
	})
	count := 0
	dying := doer(func(*http.Request) (*http.Response, error) { return says(http.StatusOK, whole+broken) })
	for _, err := range dying.client(t).Deliveries(t.Context(), "") {
		if count++; count == 2 {
			require.EqualError(t, err, "failaware: the stream has ended")
		}
	}
	require.Equal(t, 2, count)
}
