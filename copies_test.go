package failaware

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
)

// A node keeps its own configuration: neither the caller of Start nor that of Config changes it
// afterwards.
func TestANodeKeepsItsConfiguration(t *testing.T) { configurationsAreCopies(t) }

func configurationsAreCopies(t testing.TB) {
	given := Config{ID: 1, Tags: map[string]string{"zone": "a"}, Peers: []Peer{{ID: 2, Addr: "127.0.0.1:9"}},
		Broadcast: &BroadcastConfig{}}
	n := startNode(t, given)
	kept := func() {
		t.Helper()
		require.Equal(t, map[string]string{"zone": "a"}, n.TagsOf(1))
		c := n.Config()
		require.Equal(t, "a", c.Tags["zone"])
		require.Equal(t, NodeID(2), c.Peers[0].ID)
		require.Equal(t, broadcast.DefaultMaxPayload, c.Broadcast.MaxPayload)
	}
	kept()
	change := func(c *Config) { c.Tags["zone"], c.Peers[0].ID, c.Broadcast.MaxPayload = "b", 3, 1 }
	change(&given)
	kept()
	got := n.Config()
	change(&got)
	kept()
	n.TagsOf(1)["zone"] = "b"
	kept()
	_, err := n.Broadcast(t.Context(), []byte("two"), BroadcastOptions{})
	require.NoError(t, err)
}

// No part of a configuration is shared with its copy.
func TestCopiesShareNothing(t *testing.T) {
	c := Config{Tags: map[string]string{}, Peers: make([]Peer, 1), Join: make([]string, 1), References: make([]Reference, 1),
		Broadcast: &BroadcastConfig{}, NTP: &NTPConfig{}, ClockBound: &ClockBoundConfig{}}
	was, is := reflect.ValueOf(c), reflect.ValueOf(c.clone())
	for i := range was.NumField() {
		name, x := was.Type().Field(i).Name, was.Field(i)
		switch x.Kind() {
		case reflect.Map, reflect.Pointer, reflect.Slice:
			require.False(t, x.IsNil(), name)
			require.NotEqual(t, x.Pointer(), is.Field(i).Pointer(), name)
		}
	}
}
