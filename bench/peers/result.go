package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/failaware/failaware/internal/bench"
)

// Result is the result of a run.
type Result struct {
	Date     string            `json:"date"`
	Took     string            `json:"took"`
	Machine  bench.Machine     `json:"machine"`
	Network  string            `json:"network"`
	Disk     string            `json:"disk"`
	Nodes    int               `json:"nodes"`
	Notes    []string          `json:"notes,omitempty"`
	Versions map[string]string `json:"versions"`
	Skipped  map[string]string `json:"skipped,omitempty"` // reasons, by system
	Leading  []*Leading        `json:"leading,omitempty"`
	Messages []*Messages       `json:"messages,omitempty"`
	Stored   []*Stored         `json:"durable,omitempty"`

	broken bool // a part could not be measured with this library
}

// run runs all parts with all systems.
func (o *options) run() (*Result, error) {
	n, why := newNetwork(o.nodes)
	defer n.remove()
	where := fileSystem(o.dir)
	var err error
	if o.dir, err = os.MkdirTemp(o.dir, "peers-*"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(o.dir)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stop
		n.remove()
		_ = os.RemoveAll(o.dir)
		os.Exit(130) // children end with this process
	}()
	r := &Result{Date: o.began.UTC().Format(time.DateOnly), Machine: bench.ThisMachine(), Network: n.String(), Disk: where, Nodes: o.nodes,
		Versions: map[string]string{}, Skipped: map[string]string{}}
	if why != "" {
		r.Notes = append(r.Notes, "no node is cut off: "+why)
	}
	var failed error
	for _, name := range order {
		s := systems[name]
		if !slices.Contains(o.only, name) {
			continue
		}
		if why := s.missing(n); why != "" {
			r.Skipped[name] = why
			o.progress("%s is skipped: %s", name, why)
			continue
		}
		r.Versions[name] = s.versionOf()
		for _, part := range []struct {
			use     use
			measure func(*options, *system, *network) error
		}{{forLeading, r.lead}, {forMessages, r.send}, {forStoring, r.keep}} {
			if !slices.Contains(o.parts, string(part.use)) {
				continue
			}
			if err := part.measure(o, s, n); err != nil {
				r.Notes = append(r.Notes, fmt.Sprintf("%s, %s: %v", name, part.use, err))
				o.progress("%s, %s: %v", name, part.use, err)
				failed = errors.Join(failed, err)
				r.broken = r.broken || name == order[0]
			}
			r.Took = time.Since(o.began).Round(time.Second).String()
			if err := o.keep(r); err != nil {
				return nil, err
			}
		}
	}
	if len(r.Leading)+len(r.Messages)+len(r.Stored) == 0 {
		return nil, errors.Join(errors.New("nothing was measured"), failed)
	}
	return r, nil
}

// tights returns which settings a part is measured with: the tightest, and the defaults if
// asked for or if there are no others.
func (s *system) tights(o *options) []bool {
	switch {
	case s.settings[1] == "":
		return []bool{false}
	case o.defaults:
		return []bool{false, true}
	}
	return []bool{true}
}

func (r *Result) lead(o *options, s *system, n *network) error {
	if !s.leads && !s.views {
		return nil
	}
	for _, tight := range s.tights(o) {
		if err := r.leadOne(o, s, n, tight); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) leadOne(o *options, s *system, n *network, tight bool) error {
	g, err := startGroup(s, tight, forLeading, n, o.dir, o.nodes)
	if err != nil {
		return err
	}
	defer g.stop()
	l := &Leading{System: s.name, Tight: tight, Settings: s.settings[0]}
	if tight {
		l.Settings = s.settings[1]
	}
	r.Leading = append(r.Leading, l)
	for _, step := range []func(*options, *Leading) error{g.idle, g.beside, g.failover, g.believe, g.split} {
		if err := step(o, l); err != nil {
			return err
		}
	}
	return nil
}

func (r *Result) send(o *options, s *system, n *network) error {
	if len(s.flavours) == 0 {
		return nil
	}
	tights := []bool{false}
	if s.paced {
		tights = s.tights(o)
	}
	for _, tight := range tights {
		g, err := startGroup(s, tight, forMessages, n, o.dir, o.nodes)
		if err != nil {
			return err
		}
		var number uint32
		for _, flavour := range s.flavours {
			for _, size := range o.sizes {
				m, err := g.messages(o, flavour, size, &number)
				if err != nil {
					o.progress("%s, %s, %d bytes: %v", s.name, flavour, size, err)
					continue
				}
				r.Messages = append(r.Messages, m)
			}
		}
		g.stop()
	}
	return nil
}

func (r *Result) keep(o *options, s *system, n *network) error {
	if !s.stores {
		return nil
	}
	g, err := startGroup(s, s.paced, forStoring, n, o.dir, o.nodes)
	if err != nil {
		return err
	}
	defer g.stop()
	m, err := g.stored(o)
	if err != nil {
		return err
	}
	r.Stored = append(r.Stored, m)
	return nil
}

// fileSystem names the file system of a directory.
func fileSystem(dir string) string {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "unknown"
	}
	switch s.Type {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs: durable operations are not"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	}
	return fmt.Sprintf("type %#x", s.Type)
}

// moduleVersion returns the version of a module that this program is built from.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, d := range info.Deps {
		if d.Path != path {
			continue
		}
		if d.Replace != nil {
			return "this version"
		}
		return d.Version
	}
	return "unknown"
}
