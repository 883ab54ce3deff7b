package replicate

import "github.com/hashicorp/go-hclog"

// logEvents returns the default of [Config.OnEvent], which logs the events: as warnings
// those that somebody should look at.
func logEvents(log hclog.Logger) func(Event) {
	return func(e Event) {
		level := hclog.Info
		switch e := e.(type) {
		case Receiving:
			return // there are many
		case AwaitsMemory, Hanging, Discarded, StateLost, Refused, Stuck, TooLarge, Corrupt, Diverged, Differs, RolledBack:
			level = hclog.Warn
		case Begun:
			if e.Lossy {
				level = hclog.Warn
			}
		case Disk:
			if e.Err != nil {
				level = hclog.Error
			}
		}
		log.Log(level, "replicated state: "+e.String())
	}
}
