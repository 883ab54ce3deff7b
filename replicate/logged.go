package replicate

import (
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// Level returns how serious an event is: [slog.LevelWarn] if somebody should look at it,
// [slog.LevelError] for a [Disk] that takes nothing, and [slog.LevelDebug] for [Receiving], as
// there are many.
func Level(e Event) slog.Level {
	switch e := e.(type) {
	case Receiving:
		return slog.LevelDebug
	case AwaitsMemory, Hanging, Discarded, StateLost, Refused, Stuck, TooLarge, Corrupt, Diverged, Differs, RolledBack:
		return slog.LevelWarn
	case Begun:
		if e.Lossy {
			return slog.LevelWarn
		}
	case Disk:
		if e.Err != nil {
			return slog.LevelError
		}
	}
	return slog.LevelInfo
}

// logEvents returns the default of [Config.OnEvent], which logs the events.
func logEvents(log hclog.Logger) func(Event) {
	return func(e Event) { log.Log(hclogLevels[Level(e)], "replicated state: "+e.String()) }
}

var hclogLevels = map[slog.Level]hclog.Level{slog.LevelDebug: hclog.Debug, slog.LevelInfo: hclog.Info,
	slog.LevelWarn: hclog.Warn, slog.LevelError: hclog.Error}
