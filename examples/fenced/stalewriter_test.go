//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// writerEnv makes this test program a writer. It has its id, the state directory, the
// URL of the store, that of the one without a fence, and the addresses of all nodes.
const writerEnv = "FAILAWARE_TEST_WRITER"

func TestMain(m *testing.M) {
	if spec := os.Getenv(writerEnv); spec != "" {
		if err := write(strings.Fields(spec)); err != nil {
			fmt.Fprintln(os.Stderr, "writer:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writer writes to both stores when it leads globally, in two steps.
type writer struct {
	node          *failaware.Node
	fenced, naive string
	orders        chan string
}

// write runs a node, and obeys the orders on standard input: "check VALUE" waits for
// the lead, and answers "checked EDICT"; then "go" writes, and answers "wrote CODE
// TEXT"; "cancel" ends either wait.
func write(spec []string) error {
	id, err := strconv.Atoi(spec[0])
	if err != nil {
		return err
	}
	q, err := quorum.Majority(timed.SetOf(1, 2, 3))
	if err != nil {
		return err
	}
	cfg := failaware.Config{ID: failaware.NodeID(id), StateDir: spec[1], Quorum: q, Timing: failaware.Local()}
	for i, addr := range strings.Split(spec[4], ",") {
		if i+1 == id {
			cfg.Listen = addr
		} else {
			cfg.Peers = append(cfg.Peers, failaware.Peer{ID: failaware.NodeID(i + 1), Addr: addr})
		}
	}
	n, err := failaware.Start(context.Background(), cfg)
	if err != nil {
		return err
	}
	defer n.Close()
	w := &writer{node: n, fenced: spec[2], naive: spec[3], orders: make(chan string)}
	go func() {
		defer close(w.orders)
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			w.orders <- lines.Text()
		}
	}()
	for order := range w.orders {
		value, ok := strings.CutPrefix(order, "check ")
		if !ok {
			return fmt.Errorf("%q is not an order", order)
		}
		if err := w.obey(value); err != nil {
			return err
		}
	}
	return n.Err()
}

func (w *writer) obey(value string) error {
	e, ok := w.check(value)
	if ok {
		fmt.Println("checked", e)
		ok = <-w.orders == "go" // the writer is stopped here
	}
	if !ok {
		fmt.Println("cancelled")
		return nil
	}
	// The store without a fence comes first: it must see every write that the other
	// sees.
	if _, err := w.put(w.naive, value, e); err != nil {
		return err
	}
	answer, err := w.put(w.fenced, value, e)
	fmt.Println("wrote", answer)
	return err
}

// check waits until the node leads globally, and creates an edict for the write.
func (w *writer) check(value string) (e string, ok bool) {
	for {
		if made, err := w.node.Edict(payload("k", []byte(value))); err == nil {
			return made.String(), true
		}
		select {
		case <-w.orders:
			return "", false
		case <-time.After(200 * time.Microsecond):
		}
	}
}

func (w *writer) put(url, value, e string) (answer string, err error) {
	r, err := http.NewRequest(http.MethodPut, url+"/k", strings.NewReader(value))
	if err != nil {
		return "", err
	}
	r.Header.Set(header, e)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, bytes.TrimSpace(b)), err
}
