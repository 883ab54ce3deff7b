package chaos

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// hosts are network namespaces, one for each node, connected by a bridge in another one. They
// do not change the machine's own network.
type hosts struct {
	name    string
	n       int
	created []string // the namespaces
}

// mtu is the MTU of all links: the minimum of IPv6.
const mtu = "1280"

func (h *hosts) hub() string          { return h.name + "-hub" }
func (h *hosts) of(node int) string   { return fmt.Sprintf("%s-%d", h.name, node) }
func (h *hosts) addr(node int) string { return fmt.Sprintf("10.78.0.%d", node) }

// run runs a program with an input. The error contains the output of the program.
func run(input string, program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Stdin = strings.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Missing returns what this machine lacks for chaos runs, or "".
func Missing() string {
	if os.Geteuid() != 0 {
		return "network namespaces need root"
	}
	for _, program := range []string{"ip", "nft", "mkfs.ext4", "fsfreeze"} {
		if _, err := exec.LookPath(program); err != nil {
			return "the program " + program + " is missing"
		}
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		return "there is no /dev/net/tun"
	}
	h := &hosts{name: fmt.Sprintf("failaware-try-%d", os.Getpid())}
	err := h.add(h.hub())
	if err == nil {
		err = run("add table inet chaos", "ip", "netns", "exec", h.hub(), "nft", "-f", "-")
	}
	h.remove()
	if err == nil {
		err = tryDisk()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (h *hosts) add(space string) error {
	if err := run("", "ip", "netns", "add", space); err != nil {
		return err
	}
	h.created = append(h.created, space)
	return nil
}

// hostsName begins the names of the namespaces of this process's run.
func hostsName() string { return fmt.Sprintf("failaware-chaos-%d", os.Getpid()) }

// newHosts creates the namespaces. The caller removes them, also after an error.
func newHosts(n int) (*hosts, error) {
	h := &hosts{name: hostsName(), n: n}
	if err := h.add(h.hub()); err != nil {
		return h, err
	}
	if err := run("link add br0 type bridge\nlink set br0 up\n", "ip", "-n", h.hub(), "-batch", "-"); err != nil {
		return h, err
	}
	for node := 1; node <= n; node++ {
		if err := h.connect(node); err != nil {
			return h, err
		}
	}
	return h, nil
}

// connect creates the namespace of a node, with its link to the bridge and the device of
// the switch.
func (h *hosts) connect(node int) error {
	space := h.of(node)
	if err := h.add(space); err != nil {
		return err
	}
	port := fmt.Sprintf("port%d", node)
	hub := fmt.Sprintf("link add %s mtu %s type veth peer name eth0 mtu %s netns %s\nlink set %s master br0 up\n", port, mtu, mtu, space, port)
	own := fmt.Sprintf("addr add %s/24 dev eth0\nlink set eth0 mtu %s up\nlink set lo up\ntuntap add dev %s mode tun\nlink set %s mtu %s up\n",
		h.addr(node), mtu, device, device, mtu)
	return errors.Join(run(hub, "ip", "-n", h.hub(), "-batch", "-"), run(own, "ip", "-n", space, "-batch", "-"),
		run("", "ip", "netns", "exec", space, "sh", "-c",
			"for i in all default eth0 "+device+"; do echo 0 >/proc/sys/net/ipv4/conf/$i/rp_filter; done"))
}

// remove removes all namespaces.
func (h *hosts) remove() {
	for _, space := range h.created {
		_ = run("", "ip", "netns", "del", space) // a leftover does no harm: its name has the process id
	}
}

// command returns a command that runs in the namespace of a node.
func (h *hosts) command(node int, program string, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", h.of(node), program}, args...)...)
}
