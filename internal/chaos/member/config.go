package member

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// Names of the two groups.
const (
	GroupA = "a" // whose broadcast requires a quorum, with registers
	GroupB = "b" // with messages and edicts
)

// Groups has both groups, in the order of [Status].
var Groups = [...]string{GroupA, GroupB}

// Config is the first line that a member reads.
type Config struct {
	Node    int
	Process int // counts the processes of the node
	Preset  string
	Peers   []string // addresses of all nodes, without ports, in the order of ids
	State   string   // a directory that lasts
	Keys    string   // the key file
	Log     string   // the file to write
	Join    bool     // the node learns the quorum systems from others
}

// Ports of the two nodes of a member.
const (
	portA = 7001
	portB = 7002
)

// nodeConfig returns the configuration of a node, without its quorum system and directory.
func (c *Config) nodeConfig(group string, port int) (failaware.Config, error) {
	timing, err := timed.Preset(c.Preset)
	if err != nil {
		return failaware.Config{}, err
	}
	if c.Node < 1 || c.Node > len(c.Peers) {
		return failaware.Config{}, errors.New("there is no such node")
	}
	cfg := failaware.Config{ID: failaware.NodeID(c.Node), Group: "chaos-" + group, Timing: timing, KeyFile: c.Keys, Broadcast: &failaware.BroadcastConfig{}}
	for i, addr := range c.Peers {
		p := failaware.Peer{ID: failaware.NodeID(i + 1), Addr: fmt.Sprintf("%s:%d", addr, port)}
		cfg.Peers = append(cfg.Peers, p)
		if int(p.ID) == c.Node {
			cfg.Listen = p.Addr
		}
	}
	return cfg, nil
}

// configs returns the configurations of both nodes.
func (c *Config) configs() (a, b failaware.Config, err error) {
	if b, err = c.nodeConfig(GroupB, portB); err != nil {
		return a, b, err
	}
	if a, err = c.nodeConfig(GroupA, portA); err != nil {
		return a, b, err
	}
	if a.JoinQuorum, b.JoinQuorum = c.Join, c.Join; !c.Join {
		if a.Quorum, err = quorum.Majority(allNodes(len(c.Peers))); err != nil {
			return a, b, err
		}
		b.Quorum = a.Quorum
	}
	a.Broadcast.RequireQuorum, a.StateDir, b.StateDir = true, NodeDir(c.State), EpochDir(c.State)
	return a, b, nil
}

// allNodes returns the nodes from 1 to n.
func allNodes(n int) (all failaware.Set) {
	for i := range n {
		all.Add(failaware.NodeID(i + 1))
	}
	return all
}

// NodeDir, EpochDir and StoreDir are the directories of a member's nodes of group a and b,
// and of its registers, in the directory that lasts.
func NodeDir(state string) string  { return filepath.Join(state, "node-a") }
func EpochDir(state string) string { return filepath.Join(state, "node-b") }
func StoreDir(state string) string { return filepath.Join(state, "store") }
