package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/failaware/failaware/clocksync/clockbound"
)

// takeOutputs turns on what serves time to other programs, if it is said where. What
// is said of one that is off would be ignored, and is an error.
func (c *nodeConfig) takeOutputs(values source) (errs []error) {
	if c.ntp.Listen != "" {
		n := c.ntp
		c.NTP = &n
	}
	if c.segment.Path != "" {
		b := c.segment
		c.ClockBound = &b
	}
	needs := func(on bool, key, flag string) {
		if v := values[key]; !on && len(v) > 0 {
			errs = append(errs, fmt.Errorf("%s: it is of no use without %s", v[len(v)-1].origin, flag))
		}
	}
	needs(c.NTP != nil, "ntp.stratum", "--ntp-listen")
	needs(c.ClockBound != nil, "clockbound.max_slew_ppb", "--clockbound")
	return errs
}

func setStratum(c *nodeConfig, s string) error {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil || n < 1 || n > 15 {
		return fmt.Errorf("%q is not a number from 1 to 15", s)
	}
	c.ntp.Stratum = uint8(n)
	return nil
}

func setSegmentSlew(c *nodeConfig, s string) (err error) {
	c.segment.MaxSlew, err = parsePPB(s, clockbound.MaxSlew)
	return err
}

// announceOutputs prints where other programs get the time.
func (s *started) announceOutputs(out io.Writer) (err error) {
	if s.NTP != "" {
		_, err = fmt.Fprintf(out, "NTP clients are answered at %s\n", s.NTP)
	}
	if s.ClockBound != "" && err == nil {
		_, err = fmt.Fprintf(out, "the ClockBound segment is %s\n", s.ClockBound)
	}
	return err
}
