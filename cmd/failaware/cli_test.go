package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/cli/clitest"
)

// invoke runs the program within the test.
func invoke(args ...string) (code int, stdout, stderr string) {
	return clitest.Invoke(&program, args...)
}

// shortDir returns a directory whose path leaves room for sockets.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fa")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// freePorts returns loopback UDP addresses that were free just now.
func freePorts(t *testing.T, count int) []string {
	t.Helper()
	var addrs []string
	for range count {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		defer c.Close()
		addrs = append(addrs, c.LocalAddr().String())
	}
	return addrs
}

// process is `failaware node`, in this process.
type process struct {
	socket   string
	out, err clitest.Buffer
	stop     context.CancelFunc
	done     chan struct{}
	code     int
}

// startProcess starts a node that ends with the test, and waits for its API.
func startProcess(t *testing.T, args ...string) *process {
	t.Helper()
	p := runProcess(t, args...)
	for end := time.Now().Add(clitest.LongEnough); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(p.socket); err == nil && strings.Contains(p.out.String(), "guarantees") {
			return p
		}
		select {
		case <-p.done:
			require.FailNow(t, "the node ended", p.err.String())
		default:
		}
		require.True(t, time.Now().Before(end), "the API does not come up: %s", p.err.String())
	}
}

// runProcess starts a node that ends with the test, or by itself.
func runProcess(t *testing.T, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{socket: filepath.Join(shortDir(t), "api"), stop: cancel, done: make(chan struct{})}
	args = append([]string{"node", "--api", p.socket}, args...)
	go func() {
		defer close(p.done)
		p.code = program.Run(ctx, args, strings.NewReader(""), &p.out, &p.err)
	}()
	t.Cleanup(func() {
		cancel()
		<-p.done
		if t.Failed() {
			t.Log(strings.Join(args, " "), "\n", p.out.String(), p.err.String())
		}
	})
	return p
}

// end waits until a node has ended by itself, and returns its exit code.
func (p *process) end(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(clitest.LongEnough):
		require.FailNow(t, "the node does not end", p.err.String())
	}
	return p.code
}

// ask runs a command that asks the node.
func (p *process) ask(args ...string) (code int, stdout, stderr string) {
	return invoke(append([]string{"--addr", p.socket}, args...)...)
}

// startThree starts nodes 1 to 3 and waits for a view of all.
func startThree(t *testing.T, extra func(id int) []string) []*process {
	t.Helper()
	addrs := freePorts(t, 3)
	var nodes []*process
	for i, addr := range addrs {
		args := []string{"--id", fmt.Sprint(i + 1), "--listen", addr}
		for j, peer := range addrs {
			if j != i {
				args = append(args, "--peer", fmt.Sprintf("%d=%s", j+1, peer))
			}
		}
		if extra != nil {
			args = append(args, extra(i+1)...)
		}
		nodes = append(nodes, startProcess(t, args...))
	}
	for _, n := range nodes {
		code, out, err := n.ask("wait", "view", "--members", "3", "--timeout", clitest.LongEnough.String())
		require.Zero(t, code, out+err)
	}
	return nodes
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(shortDir(t), "node.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// logged waits until the node has logged something.
func (p *process) logged(t *testing.T, what string) {
	t.Helper()
	for end := time.Now().Add(clitest.LongEnough); !strings.Contains(p.err.String(), what); time.Sleep(5 * time.Millisecond) {
		require.True(t, time.Now().Before(end), "not logged: %s", what)
	}
}
