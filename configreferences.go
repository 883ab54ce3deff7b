package failaware

import "github.com/failaware/failaware/clocksync/reference"

// Reference names an external reference of UTC: an NTP server, the kernel's
// disciplined clock, or a PTP hardware clock.
type Reference = reference.Config

// checkReferences checks the references.
func (c *Config) checkReferences() (errs faults) {
	if len(c.References) > reference.MaxConfigs {
		errs.add("References: %d are more than %d", len(c.References), reference.MaxConfigs)
	}
	if c.Transport != nil && len(c.References) > 0 {
		errs.add("References: a node with a Transport cannot ask any")
	}
	names := map[string]int{}
	for i, r := range c.References {
		if err := r.Validate(); err != nil {
			errs.add("References[%d] (%s): %w", i, r.Name(), err)
		}
		if j, again := names[r.Name()]; again {
			errs.add("References[%d] (%s): References[%d] is the same", i, r.Name(), j)
		}
		names[r.Name()] = i
	}
	return errs
}
