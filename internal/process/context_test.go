//go:build unix

package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware"
)

// childEnv makes the test binary a process that leads and looks at its leader context
// all the time.
const childEnv = "FAILAWARE_TEST_LEADER_CONTEXT"

// childMain leads a group of one. After a stop it prints the first look at its leader
// context, its leadership and its view.
func childMain() int {
	n, err := failaware.Start(context.Background(), failaware.Config{ID: 1, Listen: "127.0.0.1:0", Timing: failaware.Local()})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer n.Close()
	for {
		lead, cancel, err := n.Lead(context.Background())
		if err != nil {
			fmt.Println(err)
			return 1
		}
		of := n.Leader().Since
		fmt.Println("leads")
		for last := time.Now(); ; {
			begin := time.Now()
			leads, ctx, fresh := n.Leads(), lead.Err(), n.View().UpToDate
			now, end := n.Leader(), time.Now()
			switch {
			case now.Leads && now.Since > of, end.Sub(begin) >= 100*time.Millisecond:
				// The loop ran before this look, and the node leads anew, or the stop fell
				// into the look: that proves nothing.
				fmt.Println("again")
			case begin.Sub(last) > 500*time.Millisecond:
				// The stop fell between two looks, and this one is the first action after it.
				fmt.Printf("resumed leads=%v context=%v fresh=%v\n", leads, ctx == nil, fresh)
			}
			if ctx != nil {
				break
			}
			// Almost all the time passes here, so that stops fall here.
			last = end
			for time.Since(end) < 200*time.Microsecond {
			}
		}
		cancel()
	}
}

// A leader that was stopped past its lease says "no longer" at the first look, before
// its own goroutines could run.
func TestLeaderContextAfterStop(t *testing.T) {
	if testing.Short() {
		t.Skip("stops processes for seconds; not with -short")
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	lines := bufio.NewScanner(out)
	next := func() string {
		require.True(t, lines.Scan(), "the child ended")
		return lines.Text()
	}
	proved, line := 0, next()
	for tries := 0; proved < 10; tries++ {
		require.Less(t, tries, 100, "the stops never fell between two looks")
		for line != "leads" {
			line = next()
		}
		time.Sleep(20 * time.Millisecond) // let it look; otherwise the try proves nothing
		require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
		time.Sleep(700 * time.Millisecond)
		require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
		switch line = next(); line {
		case "resumed leads=false context=false fresh=false":
			proved++
		case "again", "leads":
		default:
			t.Fatalf("after a stop of 0.7 s, with a lease of 24 ms: %s", line)
		}
	}
}
