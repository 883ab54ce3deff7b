package demo

import (
	"context"
	"time"
)

// RecordEvery is the time between two pictures of a recording.
const RecordEvery = time.Second

// scene is a part of a recording: the keys that the user presses, and the number of
// pictures that show their effect.
type scene struct {
	keys     func(m *Model) string
	pictures int
}

// scenes split the group, heal it, and pause its leader.
var scenes = []scene{
	{func(*Model) string { return "" }, 2},
	{func(*Model) string { return "12x0" }, 4},
	{func(*Model) string { return "h" }, 4},
	{func(m *Model) string { return leaderKey(m) + "p" }, 5},
	{func(*Model) string { return "p0" }, 4},
}

// leaderKey returns the key that selects a leader.
func leaderKey(m *Model) string {
	if len(m.Partitions) == 0 {
		return "1"
	}
	return m.Partitions[0].Leader.String()
}

// Record starts the nodes, plays the scenes when the nodes have found each other, and
// returns one picture for each RecordEvery.
func Record(ctx context.Context, w *World, width, height int) (pictures []*Canvas, err error) {
	if err := w.StartAll(); err != nil {
		return nil, err
	}
	k := controls{world: w}
	for m := w.Look(); ctx.Err() == nil && !(len(m.Partitions) == 1 && m.Partitions[0].Nodes == w.All()); m = w.Look() {
		time.Sleep(redrawEvery)
	}
	for _, s := range scenes {
		m := w.Look()
		for _, key := range s.keys(&m) {
			k.press(key)
		}
		for range s.pictures {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(RecordEvery):
			}
			m := w.Look()
			pictures = append(pictures, Draw(&m, &k.face, width, height))
		}
	}
	return pictures, nil
}
