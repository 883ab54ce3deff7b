package bench

import (
	"context"
	"time"

	"github.com/failaware/failaware/timed"
)

// castCell measures one line of the table, under all requested loads.
func castCell(ctx context.Context, opt *BroadcastOptions, g *group, run castRun, number *uint32) (*BroadcastCell, error) {
	c := &BroadcastCell{Members: g.all.Len(), Senders: run.Senders.Len(), Size: run.Size, Atomicity: run.Atomicity.String()}
	const tracedApart = 16 // a reading of the clock for every message would distort the result
	for _, name := range opt.Loads {
		if err := g.untilWhole(ctx); err != nil {
			return nil, err
		}
		load, rate := &c.Saturated, 0.0 // of all senders
		run.Every = tracedApart
		switch name {
		case LoadSlow:
			load, rate, run.Every = &c.Slow, castSlow, 1
		case LoadAwake:
			load, rate, run.Every = &c.Awake, castSlow, 1
		case LoadHalf:
			load, rate = &c.Half, c.Saturated.Messages/2
		}
		*number++
		run.Number, run.Rate = *number, rate/float64(run.Senders.Len())
		err := keepAwakeIf(name == LoadAwake, func() (err error) {
			*load, err = g.runCast(run, opt.For)
			return err
		})
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return c, nil
}

// runCast makes all nodes take part in a run, and returns its load. length is the measured
// time.
func (g *group) runCast(r castRun, length time.Duration) (CastLoad, error) {
	answers, err := g.askCast(&r, length)
	if err != nil {
		return CastLoad{}, err
	}
	var counts []*castCount
	for id := range g.all.All() {
		counts = append(counts, answers[id].Cast)
	}
	return sumUpCast(counts), nil
}

// askCast makes all nodes take part in a run, and returns their answers.
func (g *group) askCast(r *castRun, length time.Duration) (map[timed.NodeID]*reply, error) {
	const untilAllKnow = 50 * time.Millisecond
	r.Begin = g.clock.Now().Add(untilAllKnow)
	r.Measured = r.Begin.Add(length / 10)
	r.End = r.Measured.Add(length)
	return g.askAll(g.all, func(timed.NodeID) command {
		return command{Do: doCast, Cast: r, Millis: int((r.End.Sub(g.clock.Now()) + castDrain).Milliseconds())}
	})
}
