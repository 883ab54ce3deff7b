package failaware

import (
	"maps"
	"slices"

	"github.com/failaware/failaware/internal/wire"
)

// labels returns the labels by which the node describes itself. The default name is not
// sent.
func (c *Config) labels() wire.Labels {
	l := wire.Labels{Name: c.Name}
	if l.Name == defaultName(c.ID) {
		l.Name = ""
	}
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		l.Tags = append(l.Tags, wire.Tag{Key: key, Value: c.Tags[key]})
	}
	return l
}

func defaultName(id NodeID) string { return "node-" + id.String() }

// checkLabels checks the name and the tags.
func (c *Config) checkLabels() (errs faults) {
	if err := wire.CheckName(c.Name); err != nil {
		errs.add("Name: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Tags)) {
		if err := wire.CheckTag(key, c.Tags[key]); err != nil {
			errs.add("Tags: %w", err)
		}
	}
	if l := c.labels(); len(errs) == 0 {
		if err := l.Check(); err != nil {
			errs.add("Tags: %w", err)
		}
	}
	return errs
}

// NameOf returns the name of a node of the group, as the node has said it, or "node-ID" if
// it has said none yet. It takes no lock.
func (n *Node) NameOf(id NodeID) string {
	if id == n.cfg.ID {
		return n.cfg.Name
	}
	if l := n.loop.Labels(id); l != nil && l.Name != "" {
		return l.Name
	}
	return defaultName(id)
}

// TagsOf returns the tags of a node of the group, as the node has said them. It takes no
// lock, and the caller may change the result.
func (n *Node) TagsOf(id NodeID) map[string]string {
	if id == n.cfg.ID {
		return maps.Clone(n.cfg.Tags)
	}
	l := n.loop.Labels(id)
	if l == nil || len(l.Tags) == 0 {
		return nil
	}
	tags := make(map[string]string, len(l.Tags))
	for _, t := range l.Tags {
		tags[t.Key] = t.Value
	}
	return tags
}
