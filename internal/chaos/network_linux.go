package chaos

import (
	"fmt"
	"iter"
	"slices"
)

// network applies the faults of links that are under way.
type network struct {
	hosts  *hosts
	fabric *fabric
	active []*Fault
	rules  map[int]string // of each node, as nft has them
	bent   map[[2]int]bool
}

// begin adds a fault of the network, and end removes it.
func (w *network) begin(f *Fault) error {
	w.active = append(w.active, f)
	return w.apply()
}

func (w *network) end(f *Fault) error {
	w.active = slices.DeleteFunc(w.active, func(g *Fault) bool { return g == f })
	return w.apply()
}

// pairs yields each pair of the fault's nodes and peers.
func (f *Fault) pairs() iter.Seq2[int, int] {
	return func(yield func(node, peer int) bool) {
		for _, a := range f.Nodes {
			for _, b := range f.Peers {
				if !yield(a, b) {
					return
				}
			}
		}
	}
}

// apply sets the rules of the kernel and the switch to the present faults.
func (w *network) apply() error {
	in, out := map[int]string{}, map[int]string{}
	bent := map[[2]int]int{}
	drop := func(at map[int]string, node int, field string, peer int, how string) {
		at[node] += fmt.Sprintf("    ip %s %s %sdrop\n", field, w.hosts.addr(peer), how)
	}
	for _, f := range w.active {
		some := fmt.Sprintf("numgen random mod 100 < %d ", f.Percent)
		for a, b := range f.pairs() {
			switch f.Kind {
			case Cut:
				drop(in, a, "saddr", b, "")
				drop(in, b, "saddr", a, "")
			case OneWay:
				drop(in, b, "saddr", a, "")
			case Loss:
				drop(in, a, "saddr", b, some)
				drop(in, b, "saddr", a, some)
			case Forbid:
				drop(out, a, "daddr", b, "") // sendmsg fails with EPERM
			case Bend:
				bent[[2]int{a, b}], bent[[2]int{b, a}] = f.Percent, f.Percent
			}
		}
	}
	for node := 1; node <= w.hosts.n; node++ {
		if err := w.filter(node, in[node], out[node]); err != nil {
			return err
		}
	}
	return w.bend(bent)
}

// filter sets the rules of a node.
func (w *network) filter(node int, in, out string) error {
	rules := "table inet chaos\ndelete table inet chaos\ntable inet chaos {\n" +
		"  chain in {\n    type filter hook input priority 0\n" + in + "  }\n" +
		"  chain out {\n    type filter hook output priority 0\n" + out + "  }\n}\n"
	if w.rules[node] == rules {
		return nil
	}
	w.rules[node] = rules
	return run(rules, "ip", "netns", "exec", w.hosts.of(node), "nft", "-f", "-")
}

// bend routes the packets of some links through the switch, with the given rates of faults.
func (w *network) bend(want map[[2]int]int) error {
	changes := map[int]string{} // commands of ip, by node
	for link, percent := range want {
		w.fabric.set(link, percent)
		if !w.bent[link] {
			changes[link[0]] += fmt.Sprintf("route add %s/32 dev %s src %s\n", w.hosts.addr(link[1]), device, w.hosts.addr(link[0]))
			w.bent[link] = true
		}
	}
	for link := range w.bent {
		if _, still := want[link]; !still {
			changes[link[0]] += fmt.Sprintf("route del %s/32 dev %s\n", w.hosts.addr(link[1]), device)
			delete(w.bent, link)
		}
	}
	for node, text := range changes {
		if err := run(text, "ip", "-n", w.hosts.of(node), "-batch", "-"); err != nil {
			return err
		}
	}
	return nil
}
