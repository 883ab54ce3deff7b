package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// difference matches how the library says that a setting of a peer is another one.
var difference = regexp.MustCompile(`\b[A-Z][A-Za-z.]* (?:is|has) .+? here and |\bJoinQuorum\b|\bStateDir\b`)

// inFlags returns a text about different settings with the names that users of the program know:
// flags instead of fields.
func inFlags(text string) string { return difference.ReplaceAllStringFunc(text, inFlag) }

// inFlag returns what difference has found with the name of the flag.
func inFlag(found string) string {
	field, _, _ := strings.Cut(found, " ")
	flag := flagOf(field)
	switch flag {
	case "--broadcast":
		flag += ", which --kv turns on too,"
	case "--broadcast-require-quorum":
		flag += ", which --kv=linearizable turns on too,"
	}
	return flag + found[len(field):]
}

// word matches a quoted text, or a possible name of a field.
var word = regexp.MustCompile(`"[^"]*"|\b[A-Z][A-Za-z]+(\.[A-Z][A-Za-z]*)?\b`)

// fieldsToFlags replaces the names of fields in a text by their flags.
func fieldsToFlags(text string) string { return word.ReplaceAllStringFunc(text, flagOf) }

// packages matches names of packages, with which the library begins errors.
var packages = regexp.MustCompile(`(^|: )(?:(?:failaware|replicate|clockbound|ntpserver|quorum|udp): )+`)

// withoutPackages returns a text without names of packages: they tell users of the program
// nothing.
func withoutPackages(text string) string { return packages.ReplaceAllString(text, "$1") }

// byOrigin returns the text of an error of the library that begins with the name of a field,
// with the origin of its value in its place.
func (values source) byOrigin(err error) string {
	text := withoutPackages(err.Error())
	field, rest, _ := strings.Cut(text, ": ")
	if i := slices.IndexFunc(settings, func(s *setting) bool { return s.field == field }); i >= 0 {
		return origin(settings[i], values, "") + ": " + rest
	}
	return text
}

// flagOf returns the flag that sets a field, or the field if none does.
func flagOf(field string) string {
	if i := slices.IndexFunc(settings, func(s *setting) bool { return s.field == field }); i >= 0 {
		return settings[i].name()
	}
	return field
}

// flagLogger logs the events and warnings of a node in terms of flags.
type flagLogger struct {
	hclog.Logger
	values source
}

// Log implements [hclog.Logger]. What is about a setting names the origin of its value.
func (l flagLogger) Log(level hclog.Level, text string, args ...any) {
	if explained := l.values.explain(text); explained != text {
		text = explained
	} else if text = inFlags(text); level >= hclog.Warn && !slices.Contains(args, any("event")) {
		text = fieldsToFlags(text) // the texts of events have names of nodes
	}
	l.Logger.Log(level, text, args...)
}

// Warn implements [hclog.Logger].
func (l flagLogger) Warn(text string, args ...any) { l.Log(hclog.Warn, text, args...) }

// Named implements [hclog.Logger].
func (l flagLogger) Named(name string) hclog.Logger {
	return flagLogger{l.Logger.Named(name), l.values}
}
