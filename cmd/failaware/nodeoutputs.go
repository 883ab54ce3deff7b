package main

import (
	"fmt"
	"io"
)

// takeOutputs turns on the servers of time that have an address. A setting of a server
// that is off is an error.
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
			errs = append(errs, fmt.Errorf("%s: it needs %s", v[len(v)-1].origin, flag))
		}
	}
	needs(c.NTP != nil, "ntp.stratum", "--ntp-listen")
	needs(c.ClockBound != nil, "clockbound.max_slew_ppb", "--clockbound")
	return errs
}

// announceOutputs prints the addresses of the dashboard, the API and the time servers, and
// the kind and place of the store.
func (s *started) announceOutputs(out io.Writer) (err error) {
	if s.Page != "" {
		_, err = fmt.Fprintf(out, "dashboard at %s\n", s.Page)
	}
	if s.Remote != "" && err == nil {
		_, err = fmt.Fprintf(out, "API for other hosts at https://%s\n", s.Remote)
	}
	if s.NTP != "" && err == nil {
		_, err = fmt.Fprintf(out, "NTP server at %s\n", s.NTP)
	}
	if s.ClockBound != "" && err == nil {
		_, err = fmt.Fprintf(out, "ClockBound segment in %s\n", s.ClockBound)
	}
	if s.KV != "" && err == nil {
		where := "in memory"
		if s.KVDir != "" {
			where = "in " + s.KVDir
		}
		_, err = fmt.Fprintf(out, "key-value store, %s, %s\n", s.KV, where)
	}
	return err
}
