package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/handler"
	"github.com/failaware/failaware/internal/sched"
	"github.com/failaware/failaware/internal/store"
)

func newNodeCommand() *cobra.Command {
	var flags settingFlags
	var file string
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Run a node",
		Long: `Run a node. At SIGTERM or SIGINT it hands over and leaves the group; another one, half a
second later or more, ends it at once. At SIGHUP it reads the peers, the
keys, the token and the certificates of the API again.

Every flag can be set in the environment (FAILAWARE_ and the flag in capitals, as in
FAILAWARE_LOCK_TIME; FAILAWARE_PEERS is a list) and in a YAML file. Flags take precedence
over the environment, and the environment over the file.`,
		Example: `  failaware node --id 1 --listen 127.0.0.1:7001 --peer 2=127.0.0.1:7002
  # on a network: any member is a place to join, and the id is chosen and kept
  failaware node --listen :7001 --join group.example:7001 --key-file keys --state-dir state
  # with a page for browsers, and a key-value store
  failaware node --id 1 --http 127.0.0.1:8080 --kv partitionable`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, bounds, err := loadConfig(file, flags.source)
			if err != nil {
				return err
			}
			r := &nodeRun{output: cli.FormatOf(cmd), file: file, flags: flags.source, cfg: cfg, bounds: bounds,
				out: cmd.OutOrStdout(), err: cmd.ErrOrStderr()}
			return r.run(cmd.Context())
		},
	}
	flags.register(cmd.Flags())
	cmd.Flags().StringVar(&file, "config", "", "YAML file with settings (FAILAWARE_CONFIG)")
	return cmd
}

// nodeRun is one run of a node.
type nodeRun struct {
	output   cli.Format
	file     string
	flags    source
	cfg      nodeConfig
	bounds   failaware.Bounds
	out, err io.Writer

	log       hclog.Logger
	node      *failaware.Node
	prepared  *store.Prepared // nil without --kv
	store     *store.Store    // nil without --kv
	server    *api.Server
	handlers  *handler.Set // set before the server serves
	remote    *api.Remote  // nil unless the API serves other hosts
	token     *api.Token   // of an API at a TCP address, of the page, and for other hosts; or nil
	pageToken string       // the value of one made for this run
	leave     chan bool    // a client of the API asked the node to leave, or for good

	departure departure
	stuck     bool // the node has not stopped although its time is over
}

// gcPercent keeps the heap small: live data are less than a megabyte, and a node
// makes little garbage.
const gcPercent = 50

func (r *nodeRun) run(ctx context.Context) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	r.log = hclog.New(&hclog.LoggerOptions{Name: "failaware", Level: r.cfg.logLevel, Output: r.err, JSONFormat: r.cfg.logJSON})
	r.cfg.Logger = flagLogger{r.log, r.cfg.values}
	if err := sched.Prompt(); err != nil {
		r.log.Debug("the node waits for processors as long as other processes do", "error", err)
	}
	r.leave = make(chan bool, 1)
	signals, stop := watchSignals()
	defer stop()
	open, err := r.open()
	defer open.close()
	if err != nil {
		return err
	}
	if r.cfg.report != "" {
		rep, err := openReport(r.cfg.report, r.log)
		if err != nil {
			return cli.Wrong("--report: %w", err)
		}
		r.cfg.OnPublish = rep.published
	}
	if err := r.prepareStore(); err != nil {
		return err
	}
	defer r.finally(func() { _ = r.prepared.Close() })
	if err := r.start(ctx); err != nil {
		return err
	}
	if open.any() {
		r.makeServer(ctx)
	}
	r.handlers = r.startHandlers()
	defer r.finally(r.end)
	if open.any() {
		r.serve(open)
		defer r.server.Close()
	}
	if err := r.announce(); err != nil {
		return err
	}
	notifySystemd("READY=1")
	go r.feedWatchdog(watchdogTime())
	go r.warnAboutPeers()
	return r.wait(ctx, signals)
}

// finally calls f, which ends a part of the node. A node that is stuck would hold it up: the end of
// the process ends everything then, as a crash does.
func (r *nodeRun) finally(f func()) {
	if !r.stuck {
		f()
	}
}

// end stops the node, and what rests on it.
func (r *nodeRun) end() {
	if r.store != nil {
		if err := r.store.Close(); err != nil {
			r.log.Error("the store did not end well", "error", err)
		}
	}
	_ = r.node.Close()
	r.handlers.Close() // they handle the last events of the node
}

// start starts the node and its store. The node ends by Leave and not by the context.
func (r *nodeRun) start(ctx context.Context) (err error) {
	if r.node, err = failaware.Start(context.WithoutCancel(ctx), r.cfg.Config); err != nil {
		return r.startError(err)
	}
	if err := r.startStore(); err != nil {
		r.node.Close()
		return err
	}
	return nil
}

// startError names the setting to change.
func (r *nodeRun) startError(err error) error {
	switch {
	case errors.Is(err, failaware.ErrServeTime): // it names its own address
		return cli.Wrong("%s", fieldsToFlags(withoutPackages(err.Error())))
	case errors.Is(err, syscall.EADDRINUSE):
		return cli.WrongUsage(r.cfg.values.fault("listen", "the UDP address %s is in use by another process", r.cfg.WithDefaults().Listen))
	case errors.Is(err, failaware.ErrInUse):
		return cli.Wrong("--state-dir: %s", strings.TrimPrefix(err.Error(), "failaware: "))
	case errors.Is(err, failaware.ErrGroup):
		return cli.Wrong("--state-dir: %s", stateGroupText(err))
	case errors.Is(err, failaware.ErrDamaged):
		return r.damagedError(err)
	case errors.Is(err, failaware.ErrAwake):
		return cli.Wrong("--awake: %s", strings.TrimPrefix(err.Error(), "failaware: "))
	}
	return cli.Wrong("%s", r.cfg.values.byOrigin(err)) // another attempt would fail as well
}

// stateGroupText returns the text of an error that matches [failaware.ErrGroup], with the flag to
// set.
func stateGroupText(err error) string {
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "failaware: "), "FormerGroup", flagOf("FormerGroup"))
}

// damagedError returns the error of a lost or damaged file, which says how to bring the node back.
func (r *nodeRun) damagedError(err error) error {
	text := r.cfg.values.byOrigin(err)
	for _, field := range []string{"JoinQuorum", "the node's FormerGroup"} {
		text = strings.ReplaceAll(text, field, flagOf(strings.TrimPrefix(field, "the node's ")))
	}
	return cli.Wrong("%s", text)
}

// started is the JSON form of the announcement of a started node.
type started struct {
	Node    int        `json:"node"`
	Name    string     `json:"name"`
	Group   string     `json:"group"`
	Address string     `json:"address"`
	API     string     `json:"api"`
	Page    string     `json:"page,omitempty"`   // URL of the dashboard
	Remote  string     `json:"remote,omitempty"` // address of the API for other hosts
	Bounds  guarantees `json:"bounds"`
	// Addresses at which other programs get the time.
	NTP        string `json:"ntp,omitempty"`
	ClockBound string `json:"clockbound,omitempty"`
	KV         string `json:"kv,omitempty"` // kind of the key-value store
	KVDir      string `json:"kv_dir,omitempty"`
}

// announce prints the node's identity and its guarantees.
func (r *nodeRun) announce() error {
	cfg := r.node.Config()
	s := started{Node: int(cfg.ID), Name: cfg.Name, Group: cfg.Group, Address: r.node.Addr().String(), API: r.cfg.api, Page: r.pageURL(), Remote: r.cfg.remote.listen,
		Bounds: guaranteesOf(&r.cfg, r.bounds), ClockBound: r.cfg.segment.Path, KV: r.cfg.kv, KVDir: r.cfg.kvDir}
	if addr := r.node.NTPAddr(); addr.IsValid() {
		s.NTP = addr.String()
	}
	if r.output != cli.AsTable {
		return cli.WriteJSON(r.out, r.output, s)
	}
	if err := s.announceOutputs(r.out); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(r.out, "node %d (%s) of group %s listens at %s; API at %s; it guarantees, in partitions that are connected in time:\n",
		s.Node, s.Name, s.Group, s.Address, s.API); err != nil {
		return err
	}
	return s.Bounds.write(r.out)
}

// wait waits until the node ends, for any reason.
func (r *nodeRun) wait(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case <-r.node.Done():
			notifySystemd("STOPPING=1")
			return r.endError()
		case <-ctx.Done():
			return r.depart("interrupted", false, signals)
		case forGood := <-r.leave:
			return r.depart("asked by the API", forGood, signals)
		case s := <-signals:
			if isReload(s) {
				r.reload()
				continue
			}
			return r.depart(s.String(), false, signals)
		}
	}
}

// departure is how a node leaves, once it does.
type departure struct {
	mu             sync.Mutex
	begun, forGood bool
}

// begin begins a departure, unless one has begun, and reports whether it is for good. Clients
// have been told of the first one, and peers may have been.
func (d *departure) begin(forGood bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.begun {
		d.begun, d.forGood = true, forGood
	}
	return d.forGood
}

// depart leaves the group and prints the outcome.
func (r *nodeRun) depart(why string, forGood bool, signals <-chan os.Signal) error {
	notifySystemd("STOPPING=1")
	forGood = r.departure.begin(forGood)
	led := r.node.Leads()
	r.log.Info("leaving", "why", why, "leads", led)
	ctx, cancel := context.WithTimeoutCause(context.Background(), r.cfg.leaveTimeout, errLate)
	defer cancel()
	go hurry(ctx, signals, cancel)
	begin, leave := time.Now(), r.node.Leave
	if forGood {
		leave = r.node.LeaveForGood
	}
	err := leave(ctx)
	select {
	case <-r.node.Done():
	default:
		r.stuck = true
	}
	switch {
	case err == nil:
		how := "left"
		if led {
			how = "gave up the lead and left"
		}
		fmt.Fprintf(r.out, "node %v %s after %s\n", r.node.ID(), how, cli.Brief(time.Since(begin)))
		return nil
	case errors.Is(err, errLate):
		return cli.No(fmt.Errorf("node %v could not leave within %v and stopped as if crashed", r.node.ID(), r.cfg.leaveTimeout))
	case errors.Is(err, context.Canceled):
		return cli.No(fmt.Errorf("node %v stopped as if crashed, at the second signal", r.node.ID()))
	default:
		return err
	}
}

// sameRequest is how long signals after the first one ask for nothing more: programs such
// as timeout send a signal to a process and to its group, so that it comes twice.
const sameRequest = 500 * time.Millisecond

// hurry calls atOnce when another signal asks a node to end that leaves already, until ctx
// is done.
func hurry(ctx context.Context, signals <-chan os.Signal, atOnce func()) {
	begin := time.Now()
	for {
		select {
		case s := <-signals:
			if !isReload(s) && time.Since(begin) >= sameRequest {
				atOnce()
			}
		case <-ctx.Done():
			return
		}
	}
}

var errLate = errors.New("too late")
