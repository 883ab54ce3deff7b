package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/failaware/failaware/internal/chaos/member"
	"github.com/failaware/failaware/internal/jsonlines"
)

// process is a running member.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	commands *jsonlines.Writer
	done     chan struct{} // closed when it has ended
	killed   atomic.Bool   // it was killed: it ends once its disk lets it

	answers jsonlines.Answers[member.Report]

	mu      sync.Mutex
	status  *member.Status
	failed  string
	changed func()
	fence   func(member.Report)
}

// startProcess starts a member. changed is called after each of its reports, and fence
// with each of its edicts.
func startProcess(cmd *exec.Cmd, cfg member.Config, changed func(), fence func(member.Report)) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{}), changed: changed, fence: fence}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the run is for the harness
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.commands = jsonlines.NewWriter(p.in)
	if err := p.commands.Put(cfg); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	go p.read(out)
	return p, nil
}

// read takes reports until the process ends.
func (p *process) read(out io.Reader) {
	lines := json.NewDecoder(out)
	for {
		var r member.Report
		if lines.Decode(&r) != nil {
			break
		}
		if r.Edict != "" {
			p.fence(r)
			continue
		}
		p.take(r)
		p.changed()
	}
	_ = p.cmd.Wait() // its end was asked for, or its last report says why
	close(p.done)
	p.changed()
}

func (p *process) take(r member.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.Status != nil:
		p.status = r.Status
	case r.Failed != "":
		p.failed = r.Failed
	default:
		p.answers.Take(r.Answer, r)
	}
}

// answerWait is how long a member may take to answer. It may be stopped for a while.
const answerWait = 30 * time.Second

var errEnded = errors.New("the process has ended")

// ask sends a command and waits for the answer.
func (p *process) ask(c member.Command) (member.Report, error) {
	number, answer := p.answers.Expect()
	c.Number = number
	if p.commands.Put(c) != nil {
		return member.Report{}, errEnded
	}
	select {
	case r := <-answer:
		if r.Err != "" {
			return r, fmt.Errorf("%s: %s", c.Do, r.Err)
		}
		return r, nil
	case <-p.done:
		return member.Report{}, errEnded
	case <-time.After(answerWait):
		return member.Report{}, fmt.Errorf("%s: no answer in %v", c.Do, answerWait)
	}
}

// lastStatus returns the latest status of the member, or nil if there is none or the process
// has ended.
func (p *process) lastStatus() *member.Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed.Load() || p.ended() {
		return nil
	}
	return p.status
}

// failure returns the reason for which the process ended by itself, or "".
func (p *process) failure() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) } // it may have ended

// killWait is how long the end of a killed process may take, unless its disk is frozen.
const killWait = time.Second

// kill kills the process and waits for its end.
func (p *process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill()
	select {
	case <-p.done:
	case <-time.After(killWait):
	}
}

// close lets the process end by itself, if it does so soon.
func (p *process) close() {
	p.signal(syscall.SIGCONT)
	_ = p.in.Close()
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		p.kill()
	}
}
