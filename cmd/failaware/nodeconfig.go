package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/failaware/failaware"
	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/handler"
)

// configFileEnv is the variable that names the file if --config does not.
const configFileEnv = "FAILAWARE_CONFIG"

// loadConfig merges the settings of the file, the environment and the flags; later
// ones take precedence. Errors name the origin of each wrong value.
func loadConfig(file string, flags source) (nodeConfig, failaware.Bounds, error) {
	return loadConfigOf("--config", file, flags)
}

// loadConfigOf is loadConfig for a file that by has named, unless it is empty.
func loadConfigOf(by, file string, flags source) (nodeConfig, failaware.Bounds, error) {
	if file == "" {
		by, file = configFileEnv, os.Getenv(configFileEnv)
	}
	sources := []source{environment(), flags}
	if file != "" {
		s, err := readConfigFile(file)
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			return nodeConfig{}, failaware.Bounds{}, cli.Wrong("%s: %s: %w", by, file, e.Err)
		}
		if err != nil {
			return nodeConfig{}, failaware.Bounds{}, cli.Wrong("%w", err)
		}
		sources = append([]source{s}, sources...)
	}
	merged := source{}
	for _, from := range sources {
		maps.Copy(merged, from)
	}
	c, err := apply(merged)
	c.values = merged
	if err != nil {
		return c, failaware.Bounds{}, cli.WrongUsage(err)
	}
	bounds, err := c.Validate()
	if err != nil {
		return c, bounds, cli.WrongUsage(explain(err, merged))
	}
	for _, w := range c.Config.Warnings() {
		c.warnings = append(c.warnings, merged.explain(w))
	}
	if c.leaveTimeout == 0 {
		c.leaveTimeout = bounds.Depose + 5*time.Second
	}
	return c, bounds, nil
}

// apply makes a configuration from values.
func apply(values source) (nodeConfig, error) {
	c := nodeConfig{api: api.DefaultSocket(), logLevel: hclog.Info, handlerTimeout: handler.DefaultTimeout}
	c.Timing = failaware.LAN()
	c.StateDir, _, _ = strings.Cut(os.Getenv("STATE_DIRECTORY"), ":") // that of the unit of systemd
	chosen, err := strconv.Atoi(os.Getenv("GOMAXPROCS"))
	c.RaiseProcs = err != nil || chosen <= 0 // the same rule as Go's
	var errs []error
	for _, s := range settings {
		for _, v := range values[s.key] {
			if err := s.set(&c, v.text); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", v.origin, err))
			}
		}
	}
	errs = append(errs, c.takeStore(values)...)
	if c.broadcast {
		b := c.cast
		c.Broadcast = &b
	} else if i := slices.IndexFunc(settings, func(s *setting) bool {
		return strings.HasPrefix(s.key, "broadcast.") && s.key != "broadcast.on" && len(values[s.key]) > 0
	}); i >= 0 {
		errs = append(errs, values.fault(settings[i].key, "it needs --broadcast"))
	}
	errs = append(errs, c.takeOutputs(values)...)
	errs = append(errs, c.checkAPIs(values)...)
	if len(values["timing.max_lock_time"]) == 0 {
		c.Timing.MaxLockTime = max(c.Timing.MaxLockTime, c.Timing.LockTime)
	}
	return c, errors.Join(errs...)
}

// checkAPIs checks the addresses of the API, and the settings that apply to some of them.
func (c *nodeConfig) checkAPIs(values source) (errs []error) {
	if err := c.checkAPI(); err != nil {
		errs = append(errs, values.fault("api", "%w", err))
	}
	if c.http != "" && !api.LoopbackAddr(c.http) {
		errs = append(errs, values.fault("http", "%q is not HOST:PORT of a loopback address", c.http))
	}
	if err := c.checkRemote(values); err != nil {
		errs = append(errs, err)
	}
	pages := c.http != "" || c.remote.listen != ""
	if c.apiToken != "" && !pages && !c.tcpAPI() {
		errs = append(errs, values.fault("api_token", "a socket asks for no token: it needs --http, --api-listen, or HOST:PORT as --api"))
	}
	if c.pprof && !pages && c.api == "none" {
		errs = append(errs, values.fault("pprof", "it needs an API, and --api is none"))
	}
	return errs
}

func (c *nodeConfig) checkAPI() error {
	if _, err := netip.ParseAddr(strings.Trim(c.api, "[]")); err == nil {
		return fmt.Errorf("%q is an address without a port; as in %s", c.api, net.JoinHostPort(strings.Trim(c.api, "[]"), "8080"))
	}
	if !c.tcpAPI() {
		if _, port, err := net.SplitHostPort(c.api); err == nil && port != "" && !strings.ContainsAny(c.api, "/") && !strings.HasPrefix(c.api, "unix:") {
			return fmt.Errorf("%q: the port is not a number up to 65535; a path has a slash, as in ./%[1]s", c.api)
		}
		return nil
	}
	if !api.LoopbackAddr(c.api) {
		return fmt.Errorf("%q is not a loopback address", c.api)
	}
	if c.apiToken == "" {
		return fmt.Errorf("all users of the machine can connect to %s, so --api-token is needed", c.api)
	}
	return nil
}

// tcpAPI reports whether the API is at a TCP address. A path has a slash.
func (c *nodeConfig) tcpAPI() bool {
	if strings.Contains(c.api, "/") {
		return false
	}
	i := strings.LastIndex(c.api, ":")
	if i < 0 {
		return false
	}
	_, err := strconv.ParseUint(c.api[i+1:], 10, 16)
	return err == nil
}

// explain adds to the error of each wrong field the origin of its value.
func explain(err error, values source) error {
	var errs []error
	for line := range strings.Lines(err.Error()) {
		errs = append(errs, errors.New(values.explain(strings.TrimRight(line, "\n"))))
	}
	return errors.Join(errs...)
}

// explain returns a line about a field with the origin of its value in place of the field.
func (values source) explain(line string) string {
	line = strings.TrimPrefix(line, "Timing.")
	field, rest, _ := strings.Cut(line, ": ")
	what := ""
	if at := strings.IndexByte(field, '['); at >= 0 { // Peers[i] (…)
		field, what = field[:at], field[at:]
	}
	i := slices.IndexFunc(settings, func(s *setting) bool { return s.field == field })
	if i < 0 {
		return line
	}
	value := valueAt(settings[i], values, what)
	if value != "" {
		value = fmt.Sprintf("%q: ", value)
	}
	rest = element.ReplaceAllStringFunc(rest, func(e string) string {
		if text := valueAt(settings[i], values, e); text != "" {
			return fmt.Sprintf("%q", text)
		}
		return e
	})
	if list := values[settings[i].key]; len(list) > 0 && strings.Contains(rest, cli.LongestDuration) {
		// The error has what the user wrote.
		text := strings.TrimPrefix(list[len(list)-1].text, "-")
		rest = strings.ReplaceAll(rest, cli.LongestDuration, text)
	}
	return fmt.Sprintf("%s: %s%s", origin(settings[i], values, what), value, fieldsToFlags(rest))
}

// element matches the name that errors have for a value of a list.
var element = regexp.MustCompile(`\w+\[\d+\]`)

// valueAt returns the text of a value of a list, as the user wrote it, or "" if what
// does not name one.
func valueAt(s *setting, values source, what string) string {
	if v, ok := elementOf(values[s.key], what); ok && s.list() {
		return v.text
	}
	return ""
}

// origin returns where the value of a setting comes from.
func origin(s *setting, values source, what string) string {
	list := values[s.key]
	if len(list) == 0 {
		return s.name()
	}
	if v, ok := elementOf(list, what); ok {
		return v.origin
	}
	return list[len(list)-1].origin
}

// fault returns an error about the setting with a key. It names the origin of the value.
func (values source) fault(key, format string, args ...any) error {
	i := slices.IndexFunc(settings, func(s *setting) bool { return s.key == key })
	return fmt.Errorf("%s: %w", origin(settings[i], values, ""), fmt.Errorf(format, args...))
}

// elementOf returns the value of a list that a name such as "[2]" or "Peers[2]" means.
func elementOf(list []raw, name string) (raw, bool) {
	var i int
	at := strings.IndexByte(name, '[')
	if at < 0 {
		return raw{}, false
	}
	if _, err := fmt.Sscanf(name[at:], "[%d]", &i); err != nil || i < 0 || i >= len(list) {
		return raw{}, false
	}
	return list[i], true
}
