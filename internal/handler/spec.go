package handler

import (
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"github.com/failaware/failaware/internal/api"
)

// Spec is a handler in the configuration: the events, and what to do at them.
type Spec struct {
	Kinds   []string // of the events
	Command string   // of the shell; or
	URL     string   // of the webhook
}

// MaxSpecs is how many handlers a node may have.
const MaxSpecs = 64

// ParseCommand reads EVENTS=COMMAND.
func ParseCommand(text string) (Spec, error) {
	s, command, err := parse(text, "COMMAND")
	if err != nil {
		return Spec{}, err
	}
	if _, err := exec.LookPath(shell); err != nil {
		return Spec{}, fmt.Errorf("commands need %s: %w", shell, err)
	}
	s.Command = command
	return s, nil
}

// ParseWebhook reads EVENTS=URL.
func ParseWebhook(text string) (Spec, error) {
	s, where, err := parse(text, "URL")
	if err != nil {
		return Spec{}, err
	}
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return Spec{}, fmt.Errorf("%q is not a URL with http or https", where)
	}
	s.URL = where
	return s, nil
}

// parse reads the events: kinds of events, and topics, which stand for all of their
// kinds.
func parse(text, what string) (s Spec, rest string, err error) {
	names, rest, found := strings.Cut(text, "=")
	if !found {
		return Spec{}, "", fmt.Errorf("%q is not EVENT=%s", text, what)
	}
	if strings.TrimSpace(rest) == "" {
		return Spec{}, "", fmt.Errorf("%q has no %s", text, what)
	}
	for name := range strings.SplitSeq(names, ",") {
		kinds := api.KindsOf(strings.TrimSpace(name))
		if len(kinds) == 0 {
			return Spec{}, "", unknown(strings.TrimSpace(name))
		}
		s.Kinds = append(s.Kinds, kinds...)
	}
	slices.Sort(s.Kinds)
	s.Kinds = slices.Compact(s.Kinds)
	return s, rest, nil
}

func unknown(name string) error {
	if name == "" {
		return errors.New("the name of an event is missing")
	}
	return fmt.Errorf("%q is neither an event (%s) nor a topic (%s)", name, strings.Join(api.Kinds(), ", "), strings.Join(api.Topics(), ", "))
}

// String returns what the handler does, for logs. Of a URL it has only the scheme and the
// host: many services have a token in the path or in the query.
func (s Spec) String() string {
	if s.URL == "" {
		return s.Command
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "a URL"
	}
	return u.Scheme + "://" + u.Host + "/..."
}
