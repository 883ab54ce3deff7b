package main

import (
	"os"
	"strconv"
	"time"
)

// longestWatchdog is short enough for every watchdog that is slower.
const longestWatchdog = time.Hour

// watchdogTime returns the time after which systemd ends a service that has not said
// that it works, or a shorter one, or 0 if systemd does not watch this process: see
// sd_watchdog_enabled(3).
func watchdogTime() time.Duration {
	if pid := os.Getenv("WATCHDOG_PID"); pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return 0
	}
	us, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || us <= 0 {
		return 0
	}
	return time.Duration(min(us, int64(longestWatchdog/time.Microsecond))) * time.Microsecond
}

// feedWatchdog tells systemd at three times the needed rate that the node works, as
// long as the node's loop takes turns. A loop that hangs is not fed, and systemd starts
// the node again.
func (r *nodeRun) feedWatchdog(within time.Duration) {
	if within == 0 {
		return
	}
	feedWhile(r.node.Done(), within, func() bool {
		works := r.node.Status().Age >= 0
		if !works {
			r.log.Error("the loop takes no turns: the watchdog of systemd will end this process", "within", within)
		}
		return works
	}, func() { notifySystemd("WATCHDOG=1") })
}

// feedWhile feeds a watchdog until done, whenever the node works.
func feedWhile(done <-chan struct{}, within time.Duration, works func() bool, feed func()) {
	tick := time.NewTicker(within / 3)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if works() {
			feed()
		}
	}
}
