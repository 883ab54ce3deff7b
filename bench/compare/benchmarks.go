package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// benchmark is a command of failaware-lab, and what it measures.
type benchmark struct {
	args []string
	read func(result []byte) (map[string]float64, error) // the measures in floors; less is better
}

// benchmarks are short, so that old and new meet the same load of the machine.
var benchmarks = []benchmark{
	{[]string{"bench", "election", "--nodes", "4,8", "--count", "2000", "--first", "0", "-o", "json"}, readElection},
	{[]string{"bench", "broadcast", "--nodes", "3", "--size", "64,1024", "--senders", "one", "--atomicity", "strict",
		"--load", "saturated,slow", "--seconds", "0.5", "-o", "json"}, readBroadcast},
}

// mostTime is for one run of a benchmark; it is far more than a busy machine takes.
const mostTime = 5 * time.Minute

func readElection(result []byte) (map[string]float64, error) {
	var r struct {
		Sizes []struct {
			Nodes int     `json:"nodes"`
			Ratio float64 `json:"ratio"`
		} `json:"sizes"`
	}
	err := json.Unmarshal(result, &r)
	values := map[string]float64{}
	for _, s := range r.Sizes {
		values[fmt.Sprintf("election of %d, mean", s.Nodes)] = s.Ratio
	}
	return values, err
}

func readBroadcast(result []byte) (map[string]float64, error) {
	type latency struct {
		Latency struct {
			P50 float64 `json:"p50_us"`
		} `json:"latency"`
	}
	var r struct {
		Cells []struct {
			Size   int     `json:"size"`
			Slow   latency `json:"slow"`
			Floors struct {
				Packed struct {
					Share float64 `json:"share"`
				} `json:"packed"`
				Slow latency `json:"slow"`
			} `json:"floors"`
		} `json:"cells"`
	}
	err := json.Unmarshal(result, &r)
	values := map[string]float64{}
	for _, c := range r.Cells {
		values[fmt.Sprintf("broadcast of %d bytes, time at saturation", c.Size)] = 1 / c.Floors.Packed.Share
		values[fmt.Sprintf("broadcast of %d bytes, p50 at 100/s", c.Size)] = c.Slow.Latency.P50 / c.Floors.Slow.Latency.P50
	}
	return values, err
}

// inTurns measures both builds, rounds times each. Which one is first alternates.
func (c *builds) inTurns(ctx context.Context, b benchmark, rounds int) (old, new map[string][]float64, err error) {
	old, new = map[string][]float64{}, map[string][]float64{}
	for i := range rounds {
		first := c.measure(ctx, b, old, c.old)
		second := c.measure(ctx, b, new, c.new)
		if i%2 == 1 {
			first, second = second, first
		}
		for _, run := range []func() error{first, second} {
			if err := run(); err != nil {
				return nil, nil, err
			}
		}
		fmt.Fprintf(c.progress, "compare: %s %s: %d of %d\n", b.args[0], b.args[1], i+1, rounds)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(old)), slices.Sorted(maps.Keys(new))) {
		return nil, nil, fmt.Errorf("%s %s: the two builds measure different things", b.args[0], b.args[1])
	}
	return old, new, nil
}

// measure returns a function that runs a benchmark with one build, and adds its values.
func (c *builds) measure(ctx context.Context, b benchmark, into map[string][]float64, program string) func() error {
	return func() error {
		ctx, cancel := context.WithTimeoutCause(ctx, mostTime, errors.New("the benchmark takes more than "+mostTime.String()))
		defer cancel()
		result, err := output(ctx, ".", program, b.args...)
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		values, err := b.read([]byte(result))
		if err == nil {
			err = add(into, values)
		}
		if err != nil {
			return fmt.Errorf("the result of %s %s %s: %w", program, b.args[0], b.args[1], err)
		}
		return nil
	}
}

// add adds the values of one run, which must be real ones.
func add(into map[string][]float64, values map[string]float64) error {
	if len(values) == 0 {
		return errors.New("it has no values")
	}
	for name, v := range values {
		if !(v > 0 && v < 1e9) {
			return fmt.Errorf("%s: %s is not a ratio", name, strconv.FormatFloat(v, 'g', 4, 64))
		}
		into[name] = append(into[name], v)
	}
	return nil
}
