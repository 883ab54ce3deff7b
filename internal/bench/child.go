package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/failaware/failaware/internal/jsonlines"
)

// Launcher makes the command that runs [Serve] in a process of its own, with
// its standard input and output. A nil Launcher runs children as goroutines of
// this process.
type Launcher func() *exec.Cmd

// child is the parent's end of a child.
type child struct {
	in   io.WriteCloser
	cmd  *exec.Cmd // nil: a goroutine
	put  *jsonlines.Writer
	over chan struct{} // closed when the child has ended, and its last report was handled

	answers jsonlines.Answers[*reply]

	mu    sync.Mutex
	fatal string
}

// answerWait is how long a child may take to answer, in addition to the time of the
// command.
const answerWait = time.Minute

var errChildEnded = errors.New("a child process ended")

// start starts a child and gives it its job. One goroutine calls handle with all
// reports except answers.
func (l Launcher) start(j *job, handle func(*report)) (*child, error) {
	c := &child{over: make(chan struct{})}
	var out io.ReadCloser
	if l == nil {
		childIn, in := io.Pipe()
		parentOut, childOut := io.Pipe()
		c.in, out = in, parentOut
		go func() {
			err := Serve(childIn, childOut)
			_ = childIn.CloseWithError(io.ErrClosedPipe)
			_ = childOut.CloseWithError(err)
		}()
	} else {
		c.cmd = l()
		c.cmd.Stderr = os.Stderr
		var err error
		if c.in, err = c.cmd.StdinPipe(); err != nil {
			return nil, err
		}
		if out, err = c.cmd.StdoutPipe(); err != nil {
			return nil, err
		}
		if err = c.cmd.Start(); err != nil {
			return nil, fmt.Errorf("bench: starting a child process: %w", err)
		}
	}
	c.put = jsonlines.NewWriter(c.in)
	c.put.Put(j)
	go c.read(out, handle)
	return c, nil
}

// read takes reports until the child ends.
func (c *child) read(out io.Reader, handle func(*report)) {
	defer close(c.over)
	dec := json.NewDecoder(out)
	for {
		r := new(report)
		if dec.Decode(r) != nil {
			break
		}
		switch {
		case r.Reply != nil:
			c.answers.Take(r.Reply.Number, r.Reply)
			continue
		case r.Fatal != "":
			c.mu.Lock()
			c.fatal = r.Fatal
			c.mu.Unlock()
		}
		handle(r)
	}
	if c.cmd != nil {
		_ = c.cmd.Wait() // its end was requested, or its last report has the reason
	}
}

// tell sends a command that needs no answer.
func (c *child) tell(cmd command) { c.put.Put(cmd) }

// ask sends a command and returns a function that waits for the answer.
func (c *child) ask(cmd command) func() (*reply, error) {
	number, answer := c.answers.Expect()
	cmd.Number = number
	c.put.Put(cmd)
	return func() (*reply, error) {
		select {
		case r := <-answer:
			if r.Err != "" {
				return nil, fmt.Errorf("bench: %s: %s", cmd.Do, r.Err)
			}
			return r, nil
		case <-c.over:
			return nil, c.err()
		case <-time.After(answerWait + time.Duration(cmd.Millis)*time.Millisecond):
			return nil, fmt.Errorf("bench: a child did not answer %q", cmd.Do)
		}
	}
}

// err returns the reason for the end of the child.
func (c *child) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fatal != "" {
		return fmt.Errorf("bench: %w: %s", errChildEnded, c.fatal)
	}
	return fmt.Errorf("bench: %w", errChildEnded)
}

// crash ends the child at once, like a crash. over is closed after its end. Only
// processes can crash.
func (c *child) crash() { _ = c.cmd.Process.Kill() }

// stop ends the child and waits for its end.
func (c *child) stop() {
	_ = c.in.Close()
	select {
	case <-c.over:
	case <-time.After(3 * time.Second):
		if c.cmd != nil {
			c.crash()
			<-c.over
		}
	}
}
