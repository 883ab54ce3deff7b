//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/awake"
	"github.com/failaware/failaware/internal/cli/clitest"
	"github.com/failaware/failaware/internal/ntptest"
)

func TestMain(m *testing.M) {
	clitest.Main(m, &program, map[string]func(){"scribe": scribe})
}

// The scripts may use these commands besides those of package clitest:
//
//	nodes COUNT FLAG...
//	    Start a group of nodes n1, n2, ... with the APIs n1.api, n2.api, ... and the
//	    addresses $ADDR1, $ADDR2, ...; wait until each has a view of all. In a flag,
//	    {id} is the node's id.
//	node ID
//	    Start a node of the group again.
//	unanswered PROGRAM ARG...
//	    Run a program that asks a node where none is. It must say so in one line.
//	post SOCKET PATH
//	    Send a POST request to the API of a node.
//	lose SOCKET PATH BODY
//	    Send a POST request to the API of a node, and go away without the answer.
//	audit REPORT...
//	    Check that no two claims in the reports of a group contradict each other.
//	reference VARIABLE [shift=DURATION]
//	    Start a time server whose clock is off, and set the variable to its address.
//	notify-socket FILE
//	    Listen as systemd does. FILE.log has what it is sent.
//	certificates
//	    Write ca.pem, node.pem, node.key, client.pem and client.key.
//	gone PID
//	    Wait until a process has ended (Linux).
//
// [awake] is the condition that processors can be kept awake, and [multicast] that the
// loopback interface carries multicast.
func TestScripts(t *testing.T) {
	clitest.Scripts{
		Dir: "testdata/script",
		Commands: map[string]clitest.Command{
			"audit":         auditCommand,
			"certificates":  certificates,
			"gone":          gone,
			"node":          nodeAgain,
			"nodes":         nodes,
			"notify-socket": notifySocket,
			"post":          post,
			"lose":          lose,
			"reference":     reference,
			"unanswered":    unanswered,
		},
		Conditions: map[string]func() bool{"awake": canKeepAwake, "multicast": hasMulticast, "cgroup": hasCgroups},
	}.Run(t)
}

// hasCgroups reports whether this process may make control groups.
func hasCgroups() bool {
	g := newCgroup()
	g.remove()
	return g != ""
}

func nodes(ts *testscript.TestScript, neg bool, args []string) {
	count, err := 0, error(nil)
	if len(args) > 0 {
		count, err = strconv.Atoi(args[0])
	}
	if neg || count == 0 || err != nil {
		ts.Fatalf("usage: nodes COUNT FLAG...")
	}
	addrs, err := clitest.FreeAddresses(count)
	ts.Check(err)
	for i, addr := range addrs {
		id := strconv.Itoa(i + 1)
		ts.Setenv("ADDR"+id, addr)
		command := []string{"failaware", "node", "--id", id, "--api", "n" + id + ".api", "--listen", addr}
		for k, peer := range addrs {
			if k != i {
				command = append(command, "--peer", fmt.Sprintf("%d=%s", k+1, peer))
			}
		}
		command = append(command, args[1:]...)
		ts.Setenv("NODE"+id, strings.ReplaceAll(strings.Join(command, " "), "{id}", id))
		nodeAgain(ts, false, []string{id})
	}
	for id := 1; id <= count; id++ {
		ts.Check(ts.Exec("failaware", "--addr", fmt.Sprintf("n%d.api", id), "wait", "view",
			"--members", strconv.Itoa(count), "--timeout", clitest.LongEnough.String()))
	}
}

func nodeAgain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || ts.Getenv("NODE"+args[0]) == "" {
		ts.Fatalf("usage: node ID, after nodes COUNT")
	}
	clitest.Spawn(ts, "n"+args[0], strings.Fields(ts.Getenv("NODE"+args[0]))...)
}

func unanswered(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: unanswered PROGRAM ARG...")
	}
	if code := clitest.Exec(ts, append(args, "--addr", "unix:none")...); code != 1 {
		ts.Fatalf("exit code %d instead of 1", code)
	}
	const want = "no node answers at none: no such file or directory"
	if text := ts.ReadFile("stderr"); !strings.Contains(text, want) || strings.Count(text, "\n") != 1 || ts.ReadFile("stdout") != "" {
		ts.Fatalf("it does not say %q and nothing else", want)
	}
}

func post(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: post SOCKET PATH")
	}
	addr, err := api.ParseAddress(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(api.NewClient(addr, "").Post(clitest.TB(ts).Context(), args[1]))
}

func lose(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: lose SOCKET PATH BODY")
	}
	c, err := net.Dial("unix", ts.MkAbs(args[0]))
	ts.Check(err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: node\r\nContent-Length: %d\r\n\r\n%s", args[1], len(args[2]), args[2])
	ts.Check(err)
}

func auditCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: audit REPORT...")
	}
	for i := range args {
		args[i] = ts.MkAbs(args[i])
	}
	audit(failing{ts}, args)
}

// failing ends a script when an assertion fails.
type failing struct{ ts *testscript.TestScript }

func (f failing) Errorf(format string, args ...any) { f.ts.Fatalf(format, args...) }
func (f failing) FailNow()                          { f.ts.Fatalf("an assertion failed") }

func reference(ts *testscript.TestScript, neg bool, args []string) {
	var how ntptest.Behaviour
	if len(args) == 2 && strings.HasPrefix(args[1], "shift=") {
		shift, err := time.ParseDuration(strings.TrimPrefix(args[1], "shift="))
		ts.Check(err)
		how.Shift, args = shift, args[:1]
	}
	if neg || len(args) != 1 {
		ts.Fatalf("usage: reference VARIABLE [shift=DURATION]")
	}
	ts.Setenv(args[0], ntptest.Start(clitest.TB(ts), how).Addr())
}

func notifySocket(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: notify-socket FILE")
	}
	path := ts.MkAbs(args[0])
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	ts.Check(err)
	log, err := os.Create(path + ".log")
	ts.Check(err)
	ended := make(chan struct{})
	ts.Defer(func() {
		_ = socket.Close()
		<-ended
		_ = log.Close()
	})
	go func() {
		defer close(ended)
		for b := make([]byte, 1024); ; {
			n, err := socket.Read(b)
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(log, "%s\n", b[:n])
		}
	}()
}

func certificates(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: certificates")
	}
	ca := clitest.NewAuthority(clitest.TB(ts), ts.MkAbs("."), "ca")
	ca.Node("node", time.Hour)
	ca.Client("client")
}

func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone PID")
	}
	for end := time.Now().Add(clitest.LongEnough); ; time.Sleep(time.Millisecond) {
		b, err := os.ReadFile("/proc/" + args[0] + "/stat")
		_, rest, _ := strings.Cut(string(b), ") ")
		if err != nil || strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X") {
			return // it has ended, even if its parent has not collected it
		}
		if time.Now().After(end) {
			ts.Fatalf("process %s does not end", args[0])
		}
	}
}

// canKeepAwake reports whether processors can be kept from sleeping.
func canKeepAwake() bool {
	r, err := awake.Hold()
	if err != nil {
		return false
	}
	return r.Close() == nil
}
