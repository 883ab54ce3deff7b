package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// network is where nodes live: the loopback interface, or a network namespace for each at
// a bridge, which needs root and can cut a node off.
type network struct {
	name   string // of the namespaces; empty: loopback
	spaces []string
}

// mtu is that of links between namespaces: as large as loopback's, for all systems.
const mtu = 65535

// newNetwork makes namespaces if it may. why says why not.
func newNetwork(nodes int) (n *network, why string) {
	if os.Geteuid() != 0 {
		return &network{}, "network namespaces need root"
	}
	for _, program := range []string{"ip", "bridge"} {
		if _, err := exec.LookPath(program); err != nil {
			return &network{}, "the program " + program + " of iproute2 is missing"
		}
	}
	n = &network{name: fmt.Sprintf("failaware-peers-%d", os.Getpid())}
	if err := n.build(nodes); err != nil {
		n.remove()
		return &network{}, err.Error()
	}
	return n, ""
}

func (n *network) hub() string         { return n.name + "-hub" }
func (n *network) space(id int) string { return fmt.Sprintf("%s-%d", n.name, id) }

func (n *network) build(nodes int) error {
	if err := n.add(n.hub(), fmt.Sprintf("link add br0 mtu %d type bridge\nlink set br0 up\n", mtu)); err != nil {
		return err
	}
	for id := 1; id <= nodes; id++ {
		if err := n.add(n.space(id), ""); err != nil {
			return err
		}
		if err := ip(n.hub(), fmt.Sprintf("link add port%d mtu %d type veth peer name eth0 mtu %d netns %s\nlink set port%d master br0 up\n",
			id, mtu, mtu, n.space(id), id)); err != nil {
			return err
		}
		if err := ip(n.space(id), fmt.Sprintf("addr add %s/24 dev eth0\nlink set eth0 up\nlink set lo up\n", n.host(id))); err != nil {
			return err
		}
	}
	return nil
}

func (n *network) add(space, commands string) error {
	if err := execute("", "ip", "netns", "add", space); err != nil {
		return err
	}
	n.spaces = append(n.spaces, space)
	return ip(space, commands)
}

// ip carries out commands of ip within a namespace.
func ip(space, commands string) error { return execute(commands, "ip", "-n", space, "-batch", "-") }

// execute runs a program. Its error has what the program printed.
func execute(input, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// String says what kind of network it is.
func (n *network) String() string {
	if n.name == "" {
		return "loopback"
	}
	return "network namespaces at a bridge"
}

// host is the address of a node. All of 127.0.0.0/8 is loopback.
func (n *network) host(id int) string {
	if n.name == "" {
		return fmt.Sprintf("127.0.0.%d", id+1)
	}
	return fmt.Sprintf("10.79.0.%d", id)
}

// command returns a command that runs where a node lives.
func (n *network) command(id int, args ...string) *exec.Cmd {
	if n.name != "" {
		args = append([]string{"ip", "netns", "exec", n.space(id)}, args...)
	}
	return exec.Command(args[0], args[1:]...)
}

// cut has the bridge drop all packets from and to a node. Its link stays up: the node
// learns nothing of it but silence.
func (n *network) cut(id int) error { return n.port(id, "0") }

// heal ends a cut.
func (n *network) heal(id int) error { return n.port(id, "3") }

func (n *network) port(id int, state string) error {
	return execute("", "bridge", "-n", n.hub(), "link", "set", "dev", fmt.Sprintf("port%d", id), "state", state)
}

func (n *network) remove() {
	for _, space := range n.spaces {
		_ = execute("", "ip", "netns", "del", space) // what remains is named by the process id
	}
}
