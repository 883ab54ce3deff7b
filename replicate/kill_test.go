package replicate_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/race"
)

var killsFlag = flag.Int("kills", 0, "how often TestNothingAcknowledgedIsLostWithProcesses kills nodes, of each kind; 0: a few times")

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
	t   *testing.T
	dir string // has the directory disk of the nodes, and the files of clients
	// power is the disk of the nodes, if its power fails at each kill. dark says that it has
	// failed: nodes may then say so.
	power   *powerDisk
	dark    bool
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
	require.False(p.t, !p.dark && strings.HasPrefix(line, "failed"), line)
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

// Ways to kill nodes.
const (
	killSome  = "some"  // one of them or more
	killAll   = "all"   // at once
	failPower = "power" // of all at once: their disk loses what was not flushed
)

// killBy kills nodes in a way.
func (p *processes) killBy(way string) {
	if way == failPower {
		p.power.fail(p.running...)
		p.dark = true
	}
	killed := rand.Perm(len(p.addrs))
	if way == killSome {
		killed = killed[:1+rand.IntN(len(killed))]
	}
	p.kill(killed...)
	if way == failPower {
		p.power.comeBack()
		p.dark = false
	}
}

// killAgain kills nodes of a group again and again while they write. In the end all that was
// acknowledged is there, and nothing twice.
func killAgain(t *testing.T, kind, way string, kills int) {
	nodes := 3
	if kind == changing {
		nodes = 5
	}
	p := &processes{t: t, dir: t.TempDir(), kind: kind, addrs: addresses(t, nodes), running: make([]*exec.Cmd, nodes),
		lines: make(chan string, 1<<12), acked: map[string]bool{}}
	disk := filepath.Join(p.dir, "disk")
	require.NoError(t, os.Mkdir(disk, 0o700))
	if way == failPower {
		p.power = newPowerDisk(t, disk)
	}
	t.Cleanup(func() {
		for _, i := range p.alive() {
			_ = p.running[i].Process.Kill()
			_ = p.running[i].Wait()
		}
	})
	began := time.Now()
	for round := range kills {
		p.start(round + 1)
		p.write(time.Duration(rand.IntN(150)) * time.Millisecond)
		p.killBy(way)
	}
	took := time.Since(began)
	p.kill(p.alive()...)
	p.start(0)
	state, whole := strings.CutPrefix(<-p.lines, "whole")
	require.True(t, whole, state)
	list := strings.Fields(state)
	p.kill(p.alive()...)
	var lost, twice []string
	times := map[string]int{}
	for _, word := range list {
		if times[word]++; times[word] == 2 {
			twice = append(twice, word)
		}
	}
	for word := range p.acked {
		if times[word] == 0 {
			lost = append(lost, word)
		}
	}
	t.Logf("%d kills in %v, %d acknowledged operations of %d, %d lost, %d twice, %d of them were submitted again, %d changes of the quorum system",
		kills, took.Round(time.Second), len(p.acked), len(list), len(lost), len(twice), p.repeated, p.changes)
	require.Empty(t, lost, "words that were acknowledged are lost")
	require.Empty(t, twice, "words were applied again")
	if kind == "sessions" {
		require.Empty(t, slices.DeleteFunc(upTo(p.acked), func(w string) bool { return times[w] == 1 }), "clients go on with the next number when the last was acknowledged")
	}
}

// upTo returns all words of the clients that wrote some word, up to their last one.
func upTo(acked map[string]bool) (words []string) {
	last := map[string]int{}
	for word := range acked {
		i := strings.LastIndexByte(word, '.') + 1
		k, _ := strconv.Atoi(word[i:])
		last[word[:i]] = max(last[word[:i]], k)
	}
	for client, n := range last {
		for k := 1; k <= n; k++ {
			words = append(words, fmt.Sprint(client, k))
		}
	}
	return words
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
	kills := *killsFlag
	switch {
	case kills > 0:
	case testing.Short() || race.Enabled:
		kills = 2
	default:
		kills = 6
	}
	for _, kind := range []string{"quorum", "sessions", "all", changing} {
		for _, way := range []string{killAll, killSome, failPower} {
			if kind == "all" && way == killSome {
				continue // the rest would wait for the killed ones
			}
			if race.Enabled && kind != "all" && way != killSome {
				continue // it runs no other goroutines than the kills of some
			}
			t.Run(kind+","+way, func(t *testing.T) {
				t.Parallel() // they mostly wait: for elections, and for the disk
				killAgain(t, kind, way, kills)
			})
		}
	}
}
