package replicate

import "github.com/hashicorp/go-hclog"

// Level returns how serious an event is: [hclog.Warn] if somebody should look at it,
// [hclog.Error] for a [Disk] that takes nothing, and [hclog.Debug] for [Receiving], as there
// are many.
func Level(e Event) hclog.Level {
	switch e := e.(type) {
	case Receiving:
		return hclog.Debug
	case AwaitsMemory, AwaitsReports, Hanging, Discarded, StateLost, Refused, Stuck, TooLarge, Corrupt, Diverged, Differs, RolledBack:
		return hclog.Warn
	case Begun:
		if e.Lossy {
			return hclog.Warn
		}
	case Disk:
		if e.Err != nil {
			return hclog.Error
		}
	}
	return hclog.Info
}

// logEvents returns the default of [Config.OnEvent], which logs the events.
func logEvents(log func(hclog.Level, string, ...any)) func(Event) {
	return func(e Event) { log(Level(e), "replicated state: "+e.String()) }
}
