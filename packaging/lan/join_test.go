package lan

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

const (
	patient = 2 * time.Minute // for what takes some seconds on an idle machine
	tick    = 100 * time.Millisecond
)

// build returns the program of this source, and a directory with keys.
func build(t *testing.T) (program, dir string) {
	dir = t.TempDir()
	program = filepath.Join(dir, "failaware")
	run(t, "go", "build", "-C", "../..", "-buildvcs=false", "-o", program, "./cmd/failaware")
	run(t, program, "keygen", filepath.Join(dir, "keys"))
	return program, dir
}

// Nodes of a LAN know no address at first. Two have a multicast group, and the others names
// of a name server, of which one comes later, and a file, which comes later too.
func TestNodesOfALANFindEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	const hosts = 7
	l := newLAN(t, hosts)
	program, dir := build(t)
	const port = 7000
	s := &names{hosts: map[string][]netip.Addr{
		"two.example.test.": {v4(2), v6(2)},
		// As of a headless service: all pods, of which some do not answer.
		"nodes.example.test.": {v4(99), v4(3), v4(2), v4(1), v4(98)},
	}, services: map[string][]dnsmessage.SRVResource{
		"_failaware._udp.example.test.": {{Priority: 1, Weight: 1, Port: port, Target: dnsmessage.MustNewName("two.example.test.")}},
	}}
	go s.serve(l.listen(53))

	file := filepath.Join(dir, "nodes")
	start := func(host int, join string) *node {
		return l.start(program, dir, host, "--listen", netip.AddrPortFrom(v4(host), port).String(),
			"--key-file", filepath.Join(dir, "keys"), "--join", join)
	}
	all := []*node{
		start(1, "multicast"),
		start(2, "multicast"),
		start(3, "nodes.example.test:7000"),
		start(4, "two.example.test:7000"),
		start(5, "srv:_failaware._udp.example.test"),
		start(6, "file:"+file),
		start(7, "late.example.test:7000"),
	}
	await(t, program, all[:5], 5)

	// The last two say what they miss, and need no restart when it comes.
	for host, problem := range map[int]string{6: "no such file", 7: "no such host"} {
		require.Eventually(t, func() bool {
			out, err := all[host-1].ask(program, "status")
			return err == nil && strings.Contains(out, problem)
		}, patient, tick, "node %d", host)
	}
	require.NoError(t, os.WriteFile(file, []byte("# nodes\n10.77.0.13:7000\n"), 0o600))
	s.set("late.example.test.", v4(5))
	await(t, program, all, hosts)

	// All have the same list.
	for _, n := range all[1:] {
		require.Eventually(t, func() bool { return n.members(program) == all[0].members(program) }, patient, tick,
			"node 1 says %s\nnode %d says %s", all[0].members(program), n.host, n.members(program))
	}
	t.Log(all[0].members(program))
}

// A node of IPv6 joins by the AAAA records of a name.
func TestAJoinByAnAddressOfIPv6(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	l := newLAN(t, 2)
	program, dir := build(t)
	s := &names{hosts: map[string][]netip.Addr{"one.example.test.": {v4(1), v6(1)}}}
	go s.serve(l.listen(53))
	start := func(host int, args ...string) *node {
		return l.start(program, dir, host, append([]string{"--listen", netip.AddrPortFrom(v6(host), 7000).String(),
			"--key-file", filepath.Join(dir, "keys")}, args...)...)
	}
	await(t, program, []*node{start(1), start(2, "--join", "one.example.test:7000")}, 2)
}

// await waits until nodes have a view with a number of members.
func await(t *testing.T, program string, nodes []*node, members int) {
	t.Helper()
	for _, n := range nodes {
		require.Eventually(t, func() bool { // at first it has no API
			_, err := n.ask(program, "wait", "view", "--members", fmt.Sprint(members), "--timeout", "10s")
			return err == nil
		}, patient, tick, "node %d", n.host)
	}
}

// members is what a node says of the members: the ids, names and addresses in its view.
func (n *node) members(program string) string {
	out, err := n.ask(program, "members", "-o", "json")
	require.NoError(n.l.t, err, out)
	var a struct {
		Members []struct {
			Node          int
			Name, Address string
			InView        bool `json:"in_view"`
		}
	}
	require.NoError(n.l.t, json.Unmarshal([]byte(out), &a), out)
	return fmt.Sprintf("%+v", a.Members)
}
