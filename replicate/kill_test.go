package replicate_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/race"
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
	cfg := failaware.Config{ID: id, Listen: addrs[id-1], StateDir: filepath.Join(dir, "node"), Timing: failaware.LAN(),
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
	r, err := replicate.Start(n, app, replicate.Config{Storage: filepath.Join(dir, fmt.Sprint("state", id))})
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
		if errors.Is(err, failaware.ErrOutcomeUnknown) || errors.Is(err, failaware.ErrClosed) {
			return
		}
		fail(err)
		if a.Repeated {
			fmt.Println("repeated", word)
		}
		fmt.Println("acked", word)
	}
}

// addresses returns free addresses of this machine. On Linux they belong to a host that no other
// program has chosen: between two processes of a node nobody holds its port.
func addresses(t *testing.T, n int) (out []string) {
	host := "127.0.0.1"
	if runtime.GOOS == "linux" { // all addresses that begin with 127 are its own
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 1+rand.IntN(250))
	}
	for range n {
		c, err := net.ListenPacket("udp", net.JoinHostPort(host, "0"))
		require.NoError(t, err)
		defer c.Close()
		out = append(out, c.LocalAddr().String())
	}
	return out
}

// processes are the nodes of a group, some of which run.
type processes struct {
	t       *testing.T
	dir     string
	kind    string
	addrs   []string
	running []*exec.Cmd
	lines   chan string
	acked   map[string]bool
	// repeated counts the operations of sessions that had been applied before, and changes
	// those of the quorum system.
	repeated, changes int
}

// start starts the nodes that do not run.
func (p *processes) start(round int) {
	program, err := os.Executable()
	require.NoError(p.t, err)
	for i := range p.addrs {
		if p.running[i] != nil {
			continue
		}
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s %s %s", childNode, i+1, round, p.dir, p.kind, strings.Join(p.addrs, " ")))
		cmd.Stderr = os.Stderr
		pipe, err := cmd.StdoutPipe()
		require.NoError(p.t, err)
		require.NoError(p.t, cmd.Start())
		p.running[i] = cmd
		go func() {
			for in := bufio.NewReader(pipe); ; { // lines may be long
				line, err := in.ReadString('\n')
				if err != nil {
					break
				}
				p.lines <- strings.TrimSuffix(line, "\n")
			}
			p.lines <- "over"
		}()
	}
}

// kill kills nodes, and takes what they had printed.
func (p *processes) kill(is ...int) {
	for _, i := range is {
		_ = p.running[i].Process.Kill()
	}
	for left := len(is); left > 0; {
		if !p.take(<-p.lines) {
			left--
		}
	}
	for _, i := range is {
		_ = p.running[i].Wait()
		p.running[i] = nil
	}
}

// take takes a line of a node. It reports false at the end of a process.
func (p *processes) take(line string) bool {
	if word, acked := strings.CutPrefix(line, "acked "); acked {
		p.acked[word] = true
	}
	if strings.HasPrefix(line, "repeated ") {
		p.repeated++
	}
	if strings.HasPrefix(line, "changed ") {
		p.changes++
	}
	require.False(p.t, strings.HasPrefix(line, "failed"), line)
	return line != "over"
}

// write lets the nodes write for a while, after the first acknowledged word, and after the
// first change of the quorum system if it changes.
func (p *processes) write(d time.Duration) {
	for first, changes := len(p.acked), p.changes; len(p.acked) == first || p.kind == changing && p.changes == changes; {
		require.True(p.t, p.take(<-p.lines), "a process has ended")
	}
	for at := time.After(d); ; {
		select {
		case line := <-p.lines:
			require.True(p.t, p.take(line), "a process has ended")
		case <-at:
			return
		}
	}
}

// killAgain kills nodes of a group again and again while they write: all at once, or some.
// In the end all that was acknowledged is there, and nothing twice.
func killAgain(t *testing.T, kind string, all bool, kills int) {
	nodes := 3
	if kind == changing {
		nodes = 5
	}
	p := &processes{t: t, dir: t.TempDir(), kind: kind, addrs: addresses(t, nodes), running: make([]*exec.Cmd, nodes),
		lines: make(chan string, 1<<12), acked: map[string]bool{}}
	t.Cleanup(func() {
		for _, i := range p.alive() {
			_ = p.running[i].Process.Kill()
		}
	})
	for round := range kills {
		p.start(round + 1)
		p.write(time.Duration(rand.IntN(150)) * time.Millisecond)
		some := rand.Perm(nodes)
		if !all {
			some = some[:1+rand.IntN(nodes)]
		}
		p.kill(some...)
	}
	p.kill(p.alive()...)
	p.start(0)
	state, whole := strings.CutPrefix(<-p.lines, "whole")
	require.True(t, whole, state)
	list := strings.Fields(state)
	p.kill(p.alive()...)
	times := map[string]int{}
	for _, word := range list {
		times[word]++
		require.Equal(t, 1, times[word], "%s was applied again", word)
	}
	for word := range p.acked {
		require.Equal(t, 1, times[word], "%s is lost", word)
	}
	if kind == "sessions" {
		require.Subset(t, list, upTo(p.acked), "clients go on with the next number when the last was acknowledged")
	}
	t.Logf("%d kills, %d acknowledged operations of %d, %d of them were submitted again, %d changes of the quorum system",
		kills, len(p.acked), len(list), p.repeated, p.changes)
}

// upTo returns all words of the clients that wrote some word, up to that one.
func upTo(acked map[string]bool) (all []string) {
	for word := range acked {
		i := strings.LastIndexByte(word, '.')
		last, _ := strconv.Atoi(word[i+1:])
		for k := 1; k <= last; k++ {
			if w := fmt.Sprint(word[:i+1], k); !acked[w] {
				all = append(all, w)
			}
		}
	}
	return all
}

func (p *processes) alive() (is []int) {
	for i, cmd := range p.running {
		if cmd != nil {
			is = append(is, i)
		}
	}
	return is
}

func TestNothingAcknowledgedIsLostWithProcesses(t *testing.T) {
	kills := 6
	if testing.Short() || race.Enabled {
		kills = 2
	}
	for _, kind := range []string{"quorum", "sessions", "all", changing} {
		for _, all := range []bool{true, false} {
			if kind == "all" && !all {
				continue // the rest would wait for the killed ones
			}
			if race.Enabled && kind != "all" && all {
				continue // it runs no other goroutines than the kills of some
			}
			t.Run(fmt.Sprintf("%s,all=%v", kind, all), func(t *testing.T) {
				t.Parallel() // they mostly wait: for elections, and for the disk
				killAgain(t, kind, all, kills)
			})
		}
	}
}
