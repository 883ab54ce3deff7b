package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/failaware/failaware/internal/jsonlines"
)

// member is a node of a system within a child process, or a client of one beside it.
type member interface {
	// leads is what a worker asks before each action that only the leader may take.
	leads() bool
	// campaign makes the member want to lead, if it does not by itself.
	campaign() error
	// send hands a message over, and waits for room. It returns before the message is
	// delivered.
	send(payload []byte, flavour string) error
	// store returns when a value will not be lost if all processes are killed.
	store(ctx context.Context, value []byte) error
}

var errNotOffered = errors.New("the system does not offer this")

// unable is a member that can do nothing. Others embed it.
type unable struct{}

func (unable) leads() bool                         { return false }
func (unable) campaign() error                     { return nil }
func (unable) send([]byte, string) error           { return errNotOffered }
func (unable) store(context.Context, []byte) error { return errNotOffered }

// child is the process of a member.
type child struct {
	job     job
	member  member
	reports *jsonlines.Writer

	mu      sync.Mutex
	number  uint32 // of the run
	had     uint64
	traces  []trace
	beliefs []spell
}

// serve does the job that it reads from in, until that ends.
func serve(in io.Reader, out io.Writer) error {
	c := &child{reports: jsonlines.NewWriter(out)}
	commands := json.NewDecoder(in)
	if err := commands.Decode(&c.job); err != nil {
		return err
	}
	var err error
	if c.member, err = systems[c.job.System].member(c); err != nil {
		c.reports.Put(report{Fatal: err.Error()})
		return err
	}
	for {
		var cmd command
		if err := commands.Decode(&cmd); err != nil {
			return nil // the parent wants no more
		}
		go c.do(cmd)
	}
}

func (c *child) do(cmd command) {
	r := report{Number: cmd.Number}
	var err error
	switch cmd.Do {
	case doCampaign:
		if err = c.member.campaign(); err == nil {
			go c.ask()
		}
	case doBeliefs:
		c.mu.Lock()
		r.Beliefs, c.beliefs = c.beliefs, nil
		c.mu.Unlock()
	case doMessages:
		r.Count, err = c.messages(cmd.Run)
	case doStore:
		r.Count, err = c.store(cmd.Run)
	default:
		err = fmt.Errorf("no such command: %q", cmd.Do)
	}
	if err != nil {
		r.Err = err.Error()
	}
	c.reports.Put(r)
}

// saw reports what the member knows now.
func (c *child) saw(leader int, members []int) {
	c.reports.Put(report{View: &view{At: now(), Leader: leader, Members: members}})
}

// ready says that a client has what it needs, by a view of all.
func (c *child) ready() {
	all := []int{}
	for i := range c.job.Hosts {
		all = append(all, i+1)
	}
	c.saw(0, all)
}

const (
	// askEvery is how often a worker asks whether its member leads.
	askEvery = 100 * time.Microsecond
	// askGap separates spells: a process that asked nothing for so long was stopped.
	askGap = int64(20 * time.Millisecond)
)

// ask asks the member again and again whether it leads, as a worker does before each
// action, and notes when it said yes.
func (c *child) ask() {
	for ; ; time.Sleep(askEvery) {
		yes := c.member.leads()
		at := now() // an action would begin now
		if !yes {
			continue
		}
		c.mu.Lock()
		if n := len(c.beliefs); n > 0 && at-c.beliefs[n-1].To < askGap {
			c.beliefs[n-1].To = at
			c.beliefs[n-1].Answers++
		} else {
			c.beliefs = append(c.beliefs, spell{at, at, 1})
		}
		c.mu.Unlock()
	}
}

// A payload begins with its run (4), its number among the traced messages or zero (4),
// the instant of sending (8), and its place among all of the run (8).
const (
	payloadHead = 24
	maxTraces   = 2000
	// drain is how long after the end of a run its messages may still come.
	drain = time.Second
	// pace is the shortest sleep of a sender with a rate.
	pace = time.Millisecond
)

// deliver takes a message that the application has now.
func (c *child) deliver(payload []byte) {
	if len(payload) < payloadHead {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.number == 0 || binary.BigEndian.Uint32(payload) != c.number {
		return
	}
	c.had++
	if k := binary.BigEndian.Uint32(payload[4:]); k > 0 {
		c.traces = append(c.traces, trace{k, int64(binary.BigEndian.Uint64(payload[8:])), now()})
	}
}

func (c *child) hadSoFar() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.had
}

// messages takes part in a run of messages.
func (c *child) messages(r *run) (*count, error) {
	c.mu.Lock()
	c.number, c.had, c.traces = r.Number, 0, make([]trace, 0, maxTraces)
	c.mu.Unlock()
	sent := make(chan error, 1)
	if r.Sender == c.job.ID {
		go func() { sent <- c.send(r) }()
	} else {
		sent <- nil
	}
	until(r.Measured)
	start, first := now(), c.hadSoFar()
	until(r.End)
	stop, last := now(), c.hadSoFar()
	select {
	case err := <-sent:
		if err != nil {
			return nil, err
		}
	case <-time.After(10 * drain):
		return nil, errors.New("the sender waits for room")
	}
	time.Sleep(drain)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.number = 0
	return &count{Messages: last - first, Took: time.Duration(stop - start), Traces: c.traces}, nil
}

// send sends from the beginning to the end of a run. At saturation few messages are
// traced, so that reading the clock does not matter.
func (c *child) send(r *run) error {
	until(r.Begin)
	payload := make([]byte, r.Size)
	for i := range payload { // nothing is won by compression
		payload[i] = byte(rand.N(256))
	}
	binary.BigEndian.PutUint32(payload, r.Number)
	gap := (r.End - r.Measured) / maxTraces
	var traced uint32
	var lately int64
	for n := 0; ; n++ {
		if r.Rate > 0 {
			due := r.Begin + int64(float64(n)/r.Rate*float64(time.Second))
			if due > now() {
				time.Sleep(max(time.Duration(due-now()), pace))
			}
		}
		binary.BigEndian.PutUint32(payload[4:], 0)
		binary.BigEndian.PutUint64(payload[16:], uint64(n))
		if r.Rate > 0 || n%16 == 0 {
			at := now()
			if at >= r.End {
				return nil
			}
			if at >= r.Measured && at-lately >= gap && traced < maxTraces {
				traced++
				lately = at
				binary.BigEndian.PutUint32(payload[4:], traced)
				binary.BigEndian.PutUint64(payload[8:], uint64(at))
			}
		}
		if err := c.member.send(payload, r.Flavour); err != nil {
			return err
		}
	}
}

// afterFailure is how long a caller waits after an operation that failed.
const afterFailure = 10 * time.Millisecond

// store has callers store values, each the next one when the last one is acknowledged.
func (c *child) store(r *run) (*count, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.End-now())+drain)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	out := &count{Took: time.Duration(r.End - r.Measured)}
	for range r.Callers {
		all.Go(func() {
			value, begin := make([]byte, r.Size), r.Begin
			until(begin)
			for n := 1; ; n++ {
				at := now()
				if at >= r.End {
					return
				}
				err := c.member.store(ctx, value)
				took := time.Duration(now() - at)
				mu.Lock()
				if err != nil {
					out.Failed, out.Why = out.Failed+1, err.Error()
				} else if done := at + int64(took); done >= r.Measured && done < r.End {
					out.Messages++
					out.Waits = append(out.Waits, took)
				}
				mu.Unlock()
				if err != nil {
					time.Sleep(afterFailure)
				}
				if r.Rate > 0 {
					until(begin + int64(float64(n)/r.Rate*float64(time.Second)))
				}
			}
		})
	}
	all.Wait()
	const keep = 20_000 // values that the parent gets
	if every := len(out.Waits)/keep + 1; every > 1 {
		for i := range len(out.Waits) / every {
			out.Waits[i] = out.Waits[i*every]
		}
		out.Waits = out.Waits[:len(out.Waits)/every]
	}
	return out, nil
}
