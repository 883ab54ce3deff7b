package bench

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"time"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/hwclock"
	"github.com/failaware/failaware/internal/jsonlines"
	"github.com/failaware/failaware/internal/sched"
	"github.com/failaware/failaware/timed"
)

// nodeChild is a complete node that reports its changes.
type nodeChild struct {
	node    *failaware.Node
	clock   *hwclock.Clock
	reports *jsonlines.Writer
	expects chan timed.Set // the nodes that should support the next leader
	cast    *castChild     // nil: no broadcast
	flood   *floodChild    // nil: no flood
	pages   *pagesChild    // nil: no replicated state
}

// serveNode runs a node as the node command does, with room for its loop beside
// other goroutines.
func serveNode(j *job, commands *json.Decoder, reports *jsonlines.Writer) error {
	clock, err := hwclock.New()
	if err != nil {
		return err
	}
	_ = sched.Prompt() // as `failaware node` does
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cfg := failaware.Config{ID: j.ID, Group: j.Group, Listen: j.Listen, Peers: peersOf(j.Peers), Timing: j.Timing,
		RaiseProcs: true}
	var marked *marks
	if j.Cast != nil {
		cfg.MaxPacket, cfg.Broadcast = j.Cast.Packet, &failaware.BroadcastConfig{}
		if j.Cast.Procs > 0 {
			cfg.RaiseProcs = false
			runtime.GOMAXPROCS(j.Cast.Procs)
		}
		if j.Cast.Marks {
			marked = &marks{clock: clock}
			cfg.Transport, cfg.Listen = marked, ""
		}
	}
	if err := j.Pages.config(&cfg); err != nil {
		return err
	}
	node, err := startWith(ctx, cfg, j.Key)
	if err != nil {
		return err
	}
	defer node.Close()
	c := &nodeChild{node: node, clock: clock, reports: reports, expects: make(chan timed.Set, 1)}
	if j.Cast != nil {
		c.cast = &castChild{node: node, clock: clock, marks: marked}
		if j.Flood == nil {
			go c.cast.receive(ctx)
		} else {
			c.flood = &floodChild{node: node, clock: clock, setup: *j.Flood}
			go c.flood.receive(ctx)
		}
	}
	if c.pages, err = j.Pages.start(node); err != nil {
		return err
	}
	reports.Put(report{Addr: node.Addr().String()})
	go watchNode(ctx, node, clock, c.expects, func(s state) { reports.Put(report{State: &s}) })
	go func() {
		<-node.Done()
		if err := node.Err(); err != nil {
			reports.Put(report{Fatal: err.Error()})
		}
	}()
	for {
		var cmd command
		if err := commands.Decode(&cmd); err != nil {
			return err
		}
		c.do(ctx, &cmd)
	}
}

// startWith starts a node with a key, unless that is empty.
func startWith(ctx context.Context, cfg failaware.Config, key string) (*failaware.Node, error) {
	if key == "" {
		return failaware.Start(ctx, cfg)
	}
	file, remove, err := keyFile(key)
	if err != nil {
		return nil, err
	}
	defer remove()
	cfg.KeyFile = file
	return failaware.Start(ctx, cfg)
}

func peersOf(list []address) (peers []failaware.Peer) {
	for _, a := range list {
		peers = append(peers, failaware.Peer{ID: a.ID, Addr: a.Addr})
	}
	return peers
}

// do carries out a command.
func (c *nodeChild) do(ctx context.Context, cmd *command) {
	r := &reply{Number: cmd.Number, At: c.clock.Now()}
	var err error
	switch cmd.Do {
	case doPeers:
		err = c.node.SetPeers(peersOf(cmd.Peers))
	case doExpect:
		select {
		case <-c.expects: // not read yet
		default:
		}
		c.expects <- cmd.Expect
	case doCut:
		err = dropFrom(c.node.Addr().Port(), cmd.Ports)
	case doUsage:
		r.Usage, err = measureUsage(c.node)
	case doClock:
		go func() {
			r.Samples = c.sampleClock(time.Duration(cmd.Millis)*time.Millisecond, time.Duration(cmd.Micros)*time.Microsecond)
			c.reply(r, nil)
		}()
		return
	case doCast:
		go func() {
			r.Cast, err = c.cast.run(ctx, cmd.Cast)
			c.reply(r, err)
		}()
		return
	case doFlood:
		if c.pages != nil {
			c.pages.flood(ctx, cmd.Calls)
			return
		}
		c.flood.start(ctx)
	case doStill:
		c.flood.stop()
	case doSlow:
		c.flood.slowDown(time.Duration(cmd.Micros) * time.Microsecond)
	case doHistory:
		r.History = c.flood.recorder.take()
		r.Usage, err = measureUsage(c.node)
	case doLook:
		r.Pages, err = c.pages.look()
	case doCost:
		r.Cost = c.cost(cmd.Calls)
	default:
		err = errors.New("no such command")
	}
	if cmd.Number != 0 {
		c.reply(r, err)
	}
}

// reply answers a command.
func (c *nodeChild) reply(r *reply, err error) {
	if err != nil {
		r.Err = err.Error()
	}
	c.reports.Put(report{Reply: r})
}
