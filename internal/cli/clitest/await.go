package clitest

import (
	"net"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

const (
	// LongEnough is how long tests wait for events that surely come.
	LongEnough = 3 * time.Minute
	// poll is the interval at which scripts check conditions.
	poll = 5 * time.Millisecond
)

// addresses implements the command addresses.
func addresses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: addresses NAME...")
	}
	free, err := FreeAddresses(len(args))
	ts.Check(err)
	for i, name := range args {
		ts.Setenv(name, free[i])
	}
}

// FreeAddresses returns different loopback UDP addresses that are free.
func FreeAddresses(count int) (all []string, err error) {
	for range count {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer c.Close() // at the end, so that the next one is another
		all = append(all, c.LocalAddr().String())
	}
	return all, nil
}

// await implements the command await.
func await(ts *testscript.TestScript, neg bool, args []string) {
	f := options("await")
	count := f.Int("count", 1, "")
	if neg || f.Parse(args) != nil || f.NArg() != 2 {
		ts.Fatalf("usage: await [-count=N] FILE REGEXP")
	}
	s, file, re := stateOf(ts), ts.MkAbs(f.Arg(0)), pattern(ts, f.Arg(1))
	for end := time.Now().Add(s.patience); ; {
		over := time.Now().After(end) || s.complete(file)
		b, err := os.ReadFile(file)
		if err == nil && len(re.FindAllIndex(b, *count)) == *count {
			return
		}
		if over {
			ts.Fatalf("%s does not match %#q in %d places: %s", f.Arg(0), f.Arg(1), *count, b)
		}
		time.Sleep(poll)
	}
}

// complete reports whether a file is the output of a process that has ended.
func (s *state) complete(file string) bool {
	for _, p := range s.processes {
		if p.out == file || p.err == file {
			select {
			case <-p.done:
				return true
			default:
			}
		}
	}
	return false
}

// capture implements the command capture.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture VARIABLE FILE REGEXP")
	}
	m := pattern(ts, args[2]).FindStringSubmatch(ts.ReadFile(args[1]))
	if len(m) != 2 {
		ts.Fatalf("%s does not match %#q, or that has not one group", args[1], args[2])
	}
	ts.Setenv(args[0], m[1])
}
