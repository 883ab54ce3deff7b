package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/internal/journal"
	"github.com/failaware/failaware/internal/journal/disktest"
	"github.com/failaware/failaware/internal/keep"
	"github.com/failaware/failaware/internal/race"
	"github.com/failaware/failaware/internal/replica"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// world is a group of engines with disks in virtual time, every other one with quorums. Views
// split and merge, machines lose their power in the middle of writes, some or all at once, disks
// are slow and run full, applications are slow, and incarnations end. An operation that lasts must
// be in the state of all in the end, and none twice.
type world struct {
	t      *testing.T
	random *rand.Rand
	hub    *hub
	all    []*machine
	ops    int
	seen   map[string]int

	mu     sync.Mutex
	lasted []string
	wrong  []string
}

// machine is what outlives the processes of a node.
type machine struct {
	id    timed.NodeID
	disk  *disktest.Disk
	least int           // of the keeper
	flush time.Duration // how long the disk takes
	*process
}

// process runs an engine; nil while the machine is down.
type process struct {
	*Engine
	app   *listed
	group *fakeMember
	ctx   context.Context
	stop  context.CancelFunc
	err   chan error
}

// listed is an application with a list of operations, none of which comes twice.
type listed struct {
	w  *world
	id timed.NodeID

	mu   sync.Mutex
	list []string
	held chan struct{} // if not nil, Apply waits until it is closed
}

func (a *listed) Apply(op broadcast.Delivery) any {
	a.mu.Lock()
	held := a.held
	a.mu.Unlock()
	if held != nil {
		<-held
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.Contains(a.list, string(op.Payload)) {
		a.w.fail("node %v applies %s twice", a.id, op.Payload)
	}
	a.list = append(a.list, string(op.Payload))
	return nil
}

func (a *listed) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.list, " ")
}

func (a *listed) set(list []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = list
}

func (a *listed) Save(to io.Writer) error {
	_, err := io.WriteString(to, a.text())
	return err
}

func (a *listed) Load(r io.Reader) error {
	list, err := wordsIn(r)
	a.set(list)
	return err
}

func (a *listed) Hash() (h uint64) {
	for _, c := range a.text() {
		h = h*31 + uint64(c)
	}
	return h
}

func (a *listed) Merge(branches []replica.Branch) error {
	list, err := wordsOf(branches)
	if err == nil {
		a.set(list)
	}
	return err
}

// fail notes what is wrong. It is called by any goroutine.
func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// start starts the process of a machine with what its disk has.
func (w *world) start(m *machine) {
	p := &process{app: &listed{w: w, id: m.id}, group: w.hub.join(m.id), err: make(chan error, 1)}
	m.disk.BeforeSync(func() { time.Sleep(m.flush) })
	j, err := journal.OpenOn(m.disk, journal.Options{Segment: 1 << 12})
	require.NoError(w.t, err, "node %v", m.id)
	store, err := newStore(j, p.app, keep.Options{Least: m.least})
	require.NoError(w.t, err, "node %v", m.id)
	p.group.recall(store.Ordered())
	p.Engine, err = New(replica.Config{HashEvery: 2}, p.group, p.app, store, nil, func(e Event) {
		switch e.Kind {
		case replica.EventDiverged, replica.EventRolledBack, replica.EventCorrupt:
			w.fail("node %v tells: %+v", m.id, e.Event)
		case replica.EventBegun:
			if e.Lossy && w.anyLasted() {
				w.fail("node %v begins without what has lasted: %+v", m.id, e.Event)
			}
		case replica.EventMerged:
			w.note("merged")
		}
	})
	require.NoError(w.t, err)
	p.ctx, p.stop = context.WithCancel(w.t.Context())
	go func() { p.err <- p.Run(p.ctx) }()
	m.process = p
}

// anyLasted reports whether an operation has lasted.
func (w *world) anyLasted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.lasted) > 0
}

func (w *world) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[what]++
}

// end ends the process of a machine, which loses its power or not.
func (w *world) end(m *machine, power bool) {
	if power {
		m.disk.FailAfter(w.random.IntN(3))
		if w.random.IntN(4) == 0 {
			synctest.Wait()
		}
		m.disk.FailAfter(0)
	}
	m.release()
	m.stop()
	<-m.err
	if m.process = nil; power {
		m.disk = m.disk.Survivor(w.random)
	} else {
		m.disk = disktest.Of(m.disk.Files())
	}
}

// release lets the application of a process go on.
func (p *process) release() {
	p.app.mu.Lock()
	defer p.app.mu.Unlock()
	if p.app.held != nil {
		close(p.app.held)
		p.app.held = nil
	}
}

// up returns the machines whose processes run, in a random order.
func (w *world) up() (up []*machine) {
	for _, i := range w.random.Perm(len(w.all)) {
		if m := w.all[i]; m.process != nil {
			up = append(up, m)
		}
	}
	return up
}

// split moves the running processes to views.
func (w *world) split(blocks int) {
	parts := make([][]*fakeMember, blocks)
	for _, m := range w.all {
		if m.process != nil {
			i := w.random.IntN(blocks)
			parts[i] = append(parts[i], m.group)
		}
	}
	for _, p := range parts {
		if len(p) > 0 {
			w.hub.view(p...)
		}
	}
}

// submit submits an operation, and notes it if it lasts.
func (w *world) submit(p *process) {
	w.ops++
	op := fmt.Sprint("o", w.ops)
	if s, _ := p.Status(); !s.Accepting {
		return
	}
	go func() {
		v, ok := p.send(replica.AppendOp(nil, []byte(op)))
		for ; ok && v.Unknown == ""; time.Sleep(20 * time.Millisecond) {
			b, sent := p.send(replica.AppendBarrier(nil))
			switch {
			case !sent || b.Restores != v.Restores:
				return
			case b.Unknown == "" && b.Lasting && !b.Message.Transitional:
				w.mu.Lock()
				defer w.mu.Unlock()
				w.lasted = append(w.lasted, op)
				return
			}
		}
	}()
}

// send broadcasts a payload and waits for the verdict, unless the process ends before.
func (p *process) send(payload []byte) (v Verdict, ok bool) {
	wait := p.Outcomes.Wait(nil)
	if err := p.group.send(payload, broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrictAtomicity}, wait.Queued); err != nil {
		return v, false
	}
	select {
	case <-wait.Given:
		return wait.Verdict, true
	case <-p.ctx.Done():
		return v, false
	}
}

// step does one thing that can happen.
func (w *world) step() {
	up := w.up()
	if len(up) == 0 {
		w.start(w.all[w.random.IntN(len(w.all))])
		return
	}
	m := up[0]
	switch w.random.IntN(24) {
	case 0, 1:
		w.split(1 + w.random.IntN(3))
	case 2:
		w.end(m, true)
		w.note("lost power")
	case 3:
		w.end(m, false)
		w.note("stopped")
	case 4, 5:
		for _, down := range w.all {
			if down.process == nil {
				w.start(down)
				break
			}
		}
	case 6:
		m.disk.SetRoom(w.random.IntN(300))
		w.note("full")
	case 7, 8:
		m.disk.SetRoom(-1)
	case 9:
		m.app.mu.Lock()
		if m.app.held == nil {
			m.app.held = make(chan struct{})
		}
		m.app.mu.Unlock()
	case 10, 11:
		m.release()
	case 12:
		m.group.end(ErrNextIncarnation)
		w.note("incarnations")
	case 13:
		for _, m := range up {
			w.end(m, true)
		}
		w.note("all lost power")
	default:
		for range w.random.IntN(4) {
			w.submit(m.process)
		}
	}
	if w.random.IntN(2) == 0 {
		time.Sleep(time.Duration(w.random.Int64N(int64(100 * time.Millisecond))))
	}
}

// play plays a world, and returns what is wrong at its end.
func play(t *testing.T, seed uint64, seen map[string]int) (wrong []string) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, random: rand.New(rand.NewPCG(seed, 7)), hub: new(hub), seen: seen}
		var group timed.Set
		for id := range timed.NodeID(2 + seed%3) {
			group.Add(id + 1)
		}
		if seed%2 == 1 {
			system, err := quorum.Majority(group)
			require.NoError(t, err)
			w.hub.order = Incarnation{Quorum: system}
		}
		for id := range group.Len() {
			w.all = append(w.all, &machine{id: timed.NodeID(id + 1), disk: disktest.New(), least: 1 << (4 + w.random.IntN(8)), flush: time.Duration(w.random.IntN(30)) * time.Millisecond})
			w.start(w.all[id])
		}
		w.split(1)
		for range 120 {
			w.step()
		}
		for _, m := range w.all {
			if m.disk.SetRoom(-1); m.process == nil {
				w.start(m)
			}
			m.release()
		}
		w.split(1)
		time.Sleep(time.Minute)
		synctest.Wait()
		first := w.all[0].app.text()
		for _, m := range w.all {
			s, _ := m.Status()
			if list := m.app.text(); list != first || s.Situation != replica.Working {
				w.fail("node %v is %v, and has %s; node 1 has %s", m.id, s.Situation, list, first)
			}
		}
		has := strings.Fields(first)
		w.mu.Lock()
		lasted := w.lasted
		w.mu.Unlock()
		for _, op := range lasted {
			if !slices.Contains(has, op) {
				w.fail("%s has lasted, and is lost", op)
			}
		}
		seen["lasted"] += len(lasted)
		for _, m := range w.all {
			m.stop()
			if err := <-m.err; !errors.Is(err, context.Canceled) {
				w.fail("node %v ends with %v", m.id, err)
			}
		}
		synctest.Wait()
		wrong = w.wrong
	})
	return wrong
}

func TestWhatLastsIsInTheStateInAllWorlds(t *testing.T) {
	seen, worlds := map[string]int{}, uint64(240)
	if race.Enabled {
		worlds = 30
	}
	for seed := range worlds {
		require.Empty(t, play(t, seed, seen), "seed %d", seed)
	}
	for _, what := range []string{"lasted", "merged", "lost power", "all lost power", "stopped", "full", "incarnations"} {
		require.NotZero(t, seen[what], what)
	}
}
