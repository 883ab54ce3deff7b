package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/failaware/failaware/timed"
)

// TransferOptions are the choices of [Transfer].
type TransferOptions struct {
	Setup
	Sizes   []int // of the state, in MiB
	Clients int   // that submit one operation after the other, all nodes together
	Every   time.Duration
	Rate    int           // MiB of the state that are sent in a second; 0: the default
	For     time.Duration // of the measurements before and after
	Cut     bool          // kill the sender half way
	Spool   string
}

// Check returns an error if the choices make no sense.
func (o *TransferOptions) Check() error {
	errs := []error{within("clients", o.Clients, 0, 1<<16), within("for", o.For, time.Second, time.Hour), within("rate", o.Rate, 0, 1<<20),
		within("every", o.Every, 0, time.Hour)}
	for _, mib := range o.Sizes {
		errs = append(errs, within("size", mib, 1, 1<<16))
	}
	return errors.Join(errs...)
}

// TransferResult is the result of [Transfer].
type TransferResult struct {
	Head
	Nodes   int            `json:"nodes"`
	Clients int            `json:"clients"`
	Every   time.Duration  `json:"every_ns"`
	Sizes   []TransferSize `json:"sizes"`
}

// TransferSize is the result for one size of the state.
type TransferSize struct {
	MiB  int           `json:"mib"`
	Took time.Duration `json:"took_ns"` // from the view with the joiner until it works
	// Operations of the clients per second, before, during and after the transfer, in a
	// group of the same size.
	Before float64 `json:"operations_before"`
	During float64 `json:"operations_during"`
	After  float64 `json:"operations_after"`
	// Memory of the processes, at most, as members before and in the transfer.
	Joiner TransferMemory `json:"joiner"`
	Sender TransferMemory `json:"sender"`
	Others TransferMemory `json:"others"` // the largest growth
	// CutAt is how many bytes had come when the sender was killed, and Again how many of
	// these, or of others later, came twice.
	CutAt uint64 `json:"cut_at,omitempty"`
	Again uint64 `json:"again"`
}

// TransferMemory is resident memory in MiB.
type TransferMemory struct {
	Before float64 `json:"before_mib"`
	During float64 `json:"during_mib"`
}

func (m *TransferMemory) more() float64 { return m.During - m.Before }

// Transfer kills a member of a group with a large state, and measures what its return
// costs the others: all of the state is sent to it. It needs Linux.
func Transfer(ctx context.Context, opt TransferOptions) (*TransferResult, error) {
	ctx, cancel := opt.bounded(ctx)
	defer cancel()
	r := &TransferResult{Head: opt.head(TransferKind), Nodes: 4, Clients: opt.Clients, Every: opt.Every}
	if opt.Cut {
		r.Nodes = 5 // of which three remain
	}
	for _, mib := range opt.Sizes {
		err := r.measure(ctx, &opt, mib)
		if err != nil && ctx.Err() != nil && len(r.Sizes) > 0 {
			r.CutShort = true
			break
		}
		if err != nil {
			return nil, fmt.Errorf("bench: transfer of %d MiB: %w", mib, err)
		}
	}
	return r, nil
}

// transferMeter measures one transfer.
type transferMeter struct {
	*group
	opt    *TransferOptions
	joiner timed.NodeID
	size   TransferSize
	peaks  [timed.MaxNodes + 1]TransferMemory
	last   pagesLook // of the joiner
	sender timed.NodeID
}

func (r *TransferResult) measure(ctx context.Context, opt *TransferOptions, mib int) error {
	g, err := opt.startGroup(ctx, r.Nodes, func(g *group) {
		g.pages = &pagesSetup{Nodes: r.Nodes, MiB: mib, Spool: opt.Spool, Rate: opt.Rate << 20, Every: opt.Every}
	})
	if err != nil {
		return err
	}
	defer g.stop()
	m := &transferMeter{group: g, opt: opt, joiner: timed.NodeID(r.Nodes), size: TransferSize{MiB: mib}}
	if err := m.run(ctx); err != nil {
		return err
	}
	s := &m.size
	s.Joiner, s.Sender = m.peaks[m.joiner], m.peaks[m.sender]
	for id := range g.all.Without(m.joiner).Without(m.sender).All() {
		if p := m.peaks[id]; p.more() >= s.Others.more() {
			s.Others = p
		}
	}
	r.Sizes = append(r.Sizes, *s)
	r.aims(s, opt)
	return nil
}

func (m *transferMeter) run(ctx context.Context) (err error) {
	if err := m.until(ctx, func(l *pagesLook) bool { return l.Works }); err != nil {
		return err
	}
	for id := range m.all.Without(m.joiner).All() {
		n := int(id) - 1
		share := m.opt.Clients * (n + 1) / (m.all.Len() - 1)
		m.members[id].child.tell(command{Do: doFlood, Calls: share - m.opt.Clients*n/(m.all.Len()-1)})
	}
	if m.size.Before, err = m.calmly(ctx, func(p *TransferMemory) *float64 { return &p.Before }); err != nil {
		return err
	}
	m.crash(m.joiner)
	if err := m.restart(m.joiner); err != nil {
		return err
	}
	if err := m.until(ctx, func(l *pagesLook) bool { return l.Transferring || l.Works }); err != nil {
		return err
	}
	began := m.clock.Now()
	m.opt.progress("%d MiB: the joiner is in the view", m.size.MiB)
	m.size.During, err = m.rate(func() error {
		return m.until(ctx, func(l *pagesLook) bool {
			m.follow(l)
			return l.Restored > 0 && l.Works && l.Behind < 100
		})
	})
	m.size.Took = m.clock.Now().Sub(began)
	m.opt.progress("%d MiB: the joiner works after %v", m.size.MiB, m.size.Took)
	if err == nil {
		m.size.After, err = m.calmly(ctx, nil)
	}
	return err
}

// calmly returns the rate of operations while nothing else happens, and notes the memory.
func (m *transferMeter) calmly(ctx context.Context, note func(*TransferMemory) *float64) (rate float64, err error) {
	if err := sleep(ctx, 2*time.Second); err != nil {
		return 0, err
	}
	rate, err = m.rate(func() error { return sleep(ctx, m.opt.For) })
	if err == nil && note != nil {
		_, err = m.look(note)
	}
	return rate, err
}

// rate returns the rate of operations of the nodes that are alive before and after.
func (m *transferMeter) rate(f func() error) (float64, error) {
	before, err := m.look(nil)
	from := m.clock.Now()
	if err == nil {
		err = f()
	}
	if err != nil {
		return 0, err
	}
	after, err := m.look(nil)
	if err != nil {
		return 0, err
	}
	done := uint64(0)
	for id, l := range after {
		if id != m.joiner {
			done += l.Done - before[id].Done
		}
	}
	return float64(done) / m.clock.Now().Sub(from).Seconds(), nil
}

// look looks at all nodes, and notes the memory that each had at most since the look before.
func (m *transferMeter) look(note func(*TransferMemory) *float64) (map[timed.NodeID]*pagesLook, error) {
	answers, err := m.askAll(m.all, func(timed.NodeID) command { return command{Do: doLook} })
	if err != nil {
		return nil, err
	}
	looks := map[timed.NodeID]*pagesLook{}
	for id, r := range answers {
		looks[id] = r.Pages
		if note != nil {
			p := note(&m.peaks[id])
			*p = max(*p, float64(r.Pages.Peak)/(1<<20))
		}
	}
	return looks, nil
}

// until looks at all nodes until the joiner is as wanted.
func (m *transferMeter) until(ctx context.Context, want func(*pagesLook) bool) error {
	for {
		looks, err := m.look(func(p *TransferMemory) *float64 { return &p.During })
		if err != nil {
			return err
		}
		if want(looks[m.joiner]) {
			return nil
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// follow follows the transfer, and kills the sender half way.
func (m *transferMeter) follow(l *pagesLook) {
	if l.From != timed.NoNode && m.size.CutAt == 0 {
		m.sender = l.From
	}
	if l.Total > 0 && l.Bytes < m.last.Bytes {
		m.size.Again += m.last.Bytes - l.Bytes
	}
	if l.Total > 0 {
		m.last = *l
	}
	if m.opt.Cut && m.size.CutAt == 0 && l.Total > 0 && l.Bytes > l.Total/2 {
		m.size.CutAt = l.Bytes
		m.opt.progress("node %v, the sender, is killed after %d of %d bytes", m.sender, l.Bytes, l.Total)
		m.crash(m.sender)
		m.all.Remove(m.sender)
	}
}

// aims compares a transfer with the aims.
func (r *TransferResult) aims(s *TransferSize, opt *TransferOptions) {
	name := fmt.Sprintf("%d MiB, ", s.MiB)
	r.Aims = append(r.Aims, aim(name+"more memory of the joiner", s.Joiner.more(), 64, "MiB"),
		aim(name+"more memory of the sender", s.Sender.more(), 64, "MiB"))
	if opt.Cut {
		r.Aims = append(r.Aims, aim(name+"sent again", float64(s.Again)/(1<<20), 1, "MiB"))
	} else if opt.Clients > 0 {
		r.Aims = append(r.Aims, aim(name+"fewer operations", 100*(1-s.During/((s.Before+s.After)/2)), 10, "%"))
	}
}

// Text implements [Result].
func (r *TransferResult) Text(w io.Writer) error {
	rows := [][]string{{"MiB", "took", "MiB/s", "operations/s before", "during", "after", "joiner MiB", "in transfer", "sender MiB", "in transfer", "another MiB", "in transfer"}}
	mib := func(m *TransferMemory) []string {
		return []string{fmt.Sprintf("%.0f", m.Before), fmt.Sprintf("%.0f", m.During)}
	}
	for i := range r.Sizes {
		s := &r.Sizes[i]
		row := []string{fmt.Sprint(s.MiB), fmt.Sprintf("%.1fs", s.Took.Seconds()), fmt.Sprintf("%.1f", float64(s.MiB)/s.Took.Seconds())}
		for _, rate := range []float64{s.Before, s.During, s.After} {
			row = append(row, fmt.Sprintf("%.0f", rate))
		}
		rows = append(rows, slices.Concat(row, mib(&s.Joiner), mib(&s.Sender), mib(&s.Others)))
	}
	pace := "one operation after the other"
	if r.Every > 0 {
		pace = fmt.Sprintf("an operation every %v", r.Every)
	}
	return r.text(w, fmt.Sprintf("%d nodes, a process each, timing %s, with a quorum; %d clients, %s of 64 bytes; a member is killed, returns, and gets the state", r.Nodes, r.Preset, r.Clients, pace), rows)
}
