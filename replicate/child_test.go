package replicate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/replicate"
	"github.com/failaware/failaware/timed"
)

// childNode is the name of the variable that makes the test program a node of a group
// with a state on disks. It has the node's id, the round, the directory, whether there
// is a quorum, and the addresses of all nodes.
const childNode = "FAILAWARE_REPLICATE_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childNode); text != "" {
		if err := child(text); err != nil {
			fmt.Println("failed", err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child writes words and prints those that were acknowledged, until it is killed. In
// round 0 it only prints the state of all: on one line, as the lines of others come between.
func child(text string) error {
	f := strings.Fields(text)
	var id failaware.NodeID
	var round int
	if _, err := fmt.Sscan(f[0]+" "+f[1], &id, &round); err != nil {
		return err
	}
	dir, withQuorum, addrs := f[2], f[3] != "all", f[4:]
	disk := filepath.Join(dir, "disk")
	cfg := failaware.Config{ID: id, Listen: addrs[id-1], StateDir: filepath.Join(disk, "node"), Timing: failaware.LAN(),
		Broadcast: &failaware.BroadcastConfig{RequireQuorum: withQuorum}}
	var all timed.Set
	for i, addr := range addrs {
		if other := failaware.NodeID(i + 1); other != id {
			cfg.Peers = append(cfg.Peers, failaware.Peer{ID: other, Addr: addr})
		}
		all.Add(failaware.NodeID(i + 1))
	}
	var err error
	switch {
	case f[3] == changing:
		err = join(&cfg)
	case withQuorum:
		cfg.Quorum, err = quorum.Majority(all)
	}
	if err != nil {
		return err
	}
	n, err := failaware.Start(context.Background(), cfg)
	if err != nil {
		return err
	}
	app := &words{}
	r, err := replicate.Start(n, app, replicate.Config{Storage: filepath.Join(disk, fmt.Sprint("state", id))})
	if err != nil {
		return err
	}
	for round == 0 { // all must have met: otherwise a node without others has its own state
		var list string
		fresh, err := r.ReadLatest(context.Background(), func() { list = strings.Join(app.list, " ") })
		if err == nil && fresh.View.Set == all {
			fmt.Println("whole", list)
			time.Sleep(time.Hour)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if f[3] == changing {
		go change(r, len(addrs))
	}
	for i := range 4 {
		if f[3] == "sessions" {
			go writeOnce(r, filepath.Join(dir, fmt.Sprintf("client%d.%d", id, i)), fmt.Sprintf("%d.%d", id, i))
		} else {
			go write(r, fmt.Sprintf("%d.%d.%d", round, id, i))
		}
	}
	<-r.Done()
	return r.Err()
}

// write writes words, each once.
func write(r *replicate.Replica, prefix string) {
	for k := 0; ; k++ {
		word := fmt.Sprintf("%s.%d", prefix, k)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		if a, err := r.Submit(ctx, []byte(word)); err == nil && a.Lasting {
			fmt.Println("acked", word)
		}
		cancel()
	}
}

// writeOnce is a client with a session. Its file has the session's id, and an empty line for
// each number. It goes on with the last number, since it does not know what came of that.
func writeOnce(r *replicate.Replica, path, prefix string) {
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed", err)
		}
	}
	var id replicate.SessionID
	begun := 0 // numbers in the file
	if b, err := os.ReadFile(path); err == nil {
		text, lines, _ := strings.Cut(string(b), "\n")
		fail(id.UnmarshalText([]byte(text)))
		begun = len(lines)
	} else {
		s, err := r.OpenSession(context.Background())
		if err != nil {
			return // the process ends
		}
		id = s.ID()
		fail(os.WriteFile(path+".new", fmt.Appendf(nil, "%v\n", id), 0o600))
		fail(os.Rename(path+".new", path))
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	fail(err)
	s := r.Session(id)
	for number := max(1, begun); ; number++ {
		if number > begun {
			_, err := file.WriteString("\n")
			fail(err)
		}
		word := fmt.Sprintf("%s.%d", prefix, number)
		a, err := s.Submit(context.Background(), uint64(number), []byte(word))
		if err != nil {
			if !errors.Is(err, failaware.ErrOutcomeUnknown) && !errors.Is(err, failaware.ErrClosed) {
				fail(err)
			}
			return
		}
		if a.Repeated {
			fmt.Println("repeated", word)
		}
		fmt.Println("acked", word)
	}
}
