package main

import (
	"log/slog"
	"strings"
)

// trouble is what goes wrong at each of many attempts. The log has the first one, those that fail
// in another way, and that it is over.
type trouble struct {
	log  *slog.Logger
	said string // the reason that the log has; empty: there is no trouble
}

// met notes that an attempt has failed.
func (t *trouble) met(what string, err error, args ...any) {
	if text := reason(err); text != t.said {
		t.said = text
		t.log.Warn(what, append(args, "error", err)...)
	}
}

// over notes that an attempt has succeeded.
func (t *trouble) over(what string, args ...any) {
	if t.said != "" {
		t.said = ""
		t.log.Info(what, args...)
	}
}

// reason returns the text of an error without the port of this end of a connection, which is
// another one at each attempt.
func reason(err error) string {
	words := strings.Split(err.Error(), " ")
	for i, word := range words {
		if _, other, ok := strings.Cut(word, "->"); ok {
			words[i] = other
		}
	}
	return strings.Join(words, " ")
}
