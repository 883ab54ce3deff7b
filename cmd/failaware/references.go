package main

import (
	"fmt"
	"strings"

	"github.com/failaware/failaware"
)

func addServer(c *nodeConfig, s string) error {
	r := failaware.Reference{NTP: s}
	if err := r.Validate(); err != nil {
		return err
	}
	c.References = append(c.References, r)
	return nil
}

func setKernelClock(c *nodeConfig, s string) error {
	on := false
	if err := boolean(func(*nodeConfig) *bool { return &on })(c, s); err != nil || !on {
		return err
	}
	c.References = append(c.References, failaware.Reference{KernelClock: true})
	return nil
}

func addPHC(c *nodeConfig, s string) (err error) {
	parts := strings.Split(s, ":")
	r := failaware.Reference{PHC: parts[0]}
	if len(parts) > 3 || r.PHC == "" {
		return fmt.Errorf("%q is not %s", s, kindPHC)
	}
	if len(parts) > 1 {
		if r.Offset, err = parseDuration(parts[1]); err != nil {
			return err
		}
	}
	if len(parts) > 2 {
		if r.Error, err = parseDuration(parts[2]); err != nil {
			return err
		}
	}
	if err := r.Validate(); err != nil {
		return err
	}
	c.References = append(c.References, r)
	return nil
}
