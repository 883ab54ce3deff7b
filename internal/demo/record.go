package demo

import (
	"context"
	"time"
)

// RecordEvery is the time between two pictures of a recording.
const RecordEvery = time.Second

// scene is a part of a recording: what the user does, and for how many pictures one sees what
// it leads to.
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
	for _, p := range m.Partitions {
		return p.Leader.String()
	}
	return "1"
}

// Record starts the nodes, does what the scenes say when the nodes have found each other,
// and returns a picture of every second.
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
