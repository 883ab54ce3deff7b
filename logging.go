package failaware

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/hashicorp/go-hclog"
)

// logger returns the logger that the configuration asks for.
func (c *Config) logger() hclog.Logger {
	switch {
	case c.Logger != nil:
		return c.Logger
	case c.LogHandler == nil:
		return hclog.NewNullLogger()
	}
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Output: io.Discard, Level: hclog.Off})
	l.RegisterSink(&slogSink{c.LogHandler}) // a key of a map, which the handler need not be able to be
	return l
}

// slogSink passes messages on to a handler of package slog.
type slogSink struct{ handler slog.Handler }

// levelTrace is as far below slog's lowest level as that is below the next.
const levelTrace = slog.LevelDebug - 4

var slogLevels = map[hclog.Level]slog.Level{hclog.Trace: levelTrace, hclog.Debug: slog.LevelDebug,
	hclog.Info: slog.LevelInfo, hclog.Warn: slog.LevelWarn, hclog.Error: slog.LevelError}

// Accept implements [hclog.SinkAdapter].
func (s *slogSink) Accept(name string, level hclog.Level, text string, args ...any) {
	ctx, to := context.Background(), slogLevels[level]
	if !s.handler.Enabled(ctx, to) {
		return
	}
	r := slog.NewRecord(time.Now(), to, text, 0)
	r.AddAttrs(slog.String("logger", name))
	r.Add(args...)
	_ = s.handler.Handle(ctx, r) // as package slog does
}
