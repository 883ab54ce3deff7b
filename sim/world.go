package sim

import (
	"slices"
	"time"

	"github.com/failaware/failaware/internal/random"
	"github.com/failaware/failaware/internal/stack"
	"github.com/failaware/failaware/sim/fault"
	"github.com/failaware/failaware/sim/internal/check"
	"github.com/failaware/failaware/sim/situation"
	"github.com/failaware/failaware/timed"
)

// World is a simulated world: true time, nodes with drifting clocks, links, and faults,
// drawn from a seed or scripted by a test. It is not safe for concurrent use:
// applications, invariants and the test that drives it all run in one goroutine.
//
// [New] makes one; [World.Run] and [World.RunUntil] let time pass.
type World struct {
	opt    Options
	bounds timed.Bounds
	seed   uint64

	now   int64 // true time, in nanoseconds
	seq   uint64
	queue queue
	nodes []*Node
	links [][]link

	net, proc, clocks, boots, chaos, apps, settings random.Stream

	slots   []*flight
	free    []int32
	writing []int32 // slots that the node under way writes its packets into
	out     []stack.Effect

	baseline      fault.Baseline
	faults        []fault.Fault // those of the schedule, and then those injected
	planned       int           // how many are of the schedule
	next          int           // the next of them
	running       []int32       // the faults under way
	pendingLosses []pendingLoss // those that wait for the packet that they lose
	stable        bool          // one of them is Heal

	events  uint64
	hash    check.Hash
	check   check.Checker
	failed  *Violation
	codec   codec
	count   Counters          // without the counts of the checker: see Counters
	reached map[string]uint64 // see [World.Sometimes]

	app       app
	payload   []byte // an application's message for the packet to payloadTo
	payloadTo timed.NodeID
	record    *Recording
	changes   uint64          // see Changes
	cast      *broadcastState // nil without a broadcast
	servers   *timeServers    // nil without time servers
	global    *globalState    // nil without a quorum system
	addresses addressing      // nil unless addresses matter
	admin     *administrator  // nil where it is not replaced
	meter     *roundsMeter
	restless  *restless  // nil where leaders keep their leads
	preempted *preempted // nil where turns are not stopped
}

// Counters counts the events of a run.
type Counters struct {
	Delivered, Timeouts                  uint64
	Sent, Electing                       uint64 // packets, and those that request, grant or free votes
	Lost, Late, Cut, Reordered, Repeated uint64 // packets; Cut by a link that was cut
	Corrupted, Forged                    uint64 // packets
	Crashes, Restarts, Elections, Views  uint64
	Casts, Deliveries                    uint64                  // messages of the broadcast
	Faults                               [fault.Classes]uint64   // by class
	Sometimes                            [situation.Count]uint64 // how often each situation was reached
}

// readersEvery is the number of seeds for one world in which the answers of nodes are
// checked, which takes a fifth of its time.
const readersEvery = 4

// origin keeps instants away from zero, which means "none" in places.
const origin = int64(1000 * time.Second)

func newWorld(seed uint64, opt Options) *World { return newWorldOf(seed, opt, opt.draw(seed)) }

func newWorldOf(seed uint64, opt Options, s fault.Schedule) *World {
	w := &World{opt: opt, seed: seed, now: origin, hash: check.Hash(14695981039346656037 ^ seed),
		baseline: s.Baseline, faults: slices.Clip(s.Faults), planned: len(s.Faults), apps: random.New(seed, random.Apps),
		net: random.New(seed, random.Network), proc: random.New(seed, random.Processes),
		clocks: random.New(seed, random.Clocks), boots: random.New(seed, random.Boots), chaos: random.New(seed, random.Faults),
		settings: random.New(seed, random.Settings)}
	w.bounds, _ = w.opt.slowest().Validate()
	single := opt.Calm && slices.ContainsFunc(s.Faults, func(f fault.Fault) bool { return f.Kind == fault.Lose })
	w.check.Reset(check.Config{Nodes: opt.Nodes, Single: single, Timing: opt.Timing, Bounds: w.bounds, Servers: s.Servers, Resolution: int64(opt.Resolution), Readers: seed%readersEvery == 0, Start: origin, Violated: w.violated}, origin)
	if w.global = newGlobalState(seed, &opt); w.global != nil {
		w.check.FollowGlobal(w.global.system, w.global.counts)
	}
	w.admin = w.newAdministrator()
	w.restless = newRestless(seed, &opt)
	w.preempted = newPreempted(seed, &opt)
	if s.Servers != nil {
		w.servers = w.newTimeServers(s.Servers)
	}
	if s.Traffic != nil {
		w.cast = w.newBroadcastState(s.Traffic)
	}
	for i := range opt.Nodes {
		w.addNode(timed.NodeID(i+1), i)
	}
	w.applyFaults()
	w.begin()
	return w
}

func (w *World) schedule(at int64, k eventKind, node int, arg int32) {
	w.seq++
	w.queue.push(makeEvent(at, w.seq, k, node, arg))
}

// mix folds a value into the trace hash.
func (w *World) mix(x uint64) { w.hash.Mix(x) }

func (w *World) mixText(text string) {
	for i := range len(text) {
		w.mix(uint64(text[i]))
	}
	w.mix(uint64(w.now))
}

// step performs the next event. It returns false when a check has failed or
// nothing is left.
func (w *World) step() bool {
	e := w.queue.pop()
	w.now, w.check.Now = e.at, e.at
	switch e.kind() {
	case eventDeliver:
		w.deliver(e)
	case eventWake:
		w.wake(e)
	case eventFaultEnds:
		w.endFault(e.arg)
	case eventTimer:
		w.fire(e)
	case eventTraffic:
		w.sendTraffic(e)
	case eventQuery:
		w.query(e)
	case eventReply:
		w.reply(e)
	case eventTemperature:
		w.temperatureStep(e)
	case eventFaultBegins:
		w.beginFault(e.arg)
	case eventResume:
		w.resume(e)
	case eventSocketReady:
		w.socketReady(e)
	case eventDecide:
		w.decide(e)
	case eventRetire:
		w.retire(e)
	case eventDepart:
		w.goOn(w.nodes[e.node()])
	}
	w.endEvent()
	return w.failed == nil
}
