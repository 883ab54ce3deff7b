package lint

import (
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/stretchr/testify/require"
)

// parse returns the alerts as Prometheus reads them.
func parse(t *testing.T) *rulefmt.RuleGroups {
	t.Helper()
	groups, errs := rulefmt.ParseFile("../alerts.yaml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	return groups
}

// rules returns the expressions of the alerts by their names.
func rules(t *testing.T) map[string]string {
	t.Helper()
	groups := parse(t)
	all := map[string]string{}
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			all[r.Alert] = r.Expr
		}
	}
	return all
}

// Every alert has a summary, a description and a severity, and the page says what to do.
func TestAlerts(t *testing.T) {
	groups := parse(t)
	page, err := os.ReadFile("../../docs/how-to/monitoring.md")
	require.NoError(t, err)
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			require.NotEmpty(t, r.Alert)
			require.Contains(t, string(page), r.Alert)
			require.NotEmpty(t, r.Annotations["summary"], r.Alert)
			require.NotEmpty(t, r.Annotations["description"], r.Alert)
			require.Contains(t, []string{"warning", "critical"}, r.Labels["severity"], r.Alert)
		}
	}
}

// situations has for each alert what nodes say, and of what the alert fires.
var situations = map[string]struct{ load, want string }{
	"FailawareDown": {`
  up{job="failaware",instance="a"} 0x20
  up{job="failaware",instance="b"} 1x20
  up{job="other",instance="c"} 0x20`, `up{job="failaware",instance="a"} 0`},
	"FailawareLoopStalled": {`
  failaware_loop_answered{instance="a"} 0x20
  failaware_loop_answered{instance="b"} 1x20`, `failaware_loop_answered{instance="a"} 0`},
	"FailawareClockUnsynchronized": {`
  failaware_clock_synchronized{instance="a"} 0x20
  failaware_clock_synchronized{instance="b"} 1x20`, `failaware_clock_synchronized{instance="a"} 0`},
	"FailawareSplit": {`
  failaware_leads{instance="a"} 1x20
  failaware_leads{instance="b"} 1x20
  failaware_leads{instance="c"} 1x20
  failaware_leads{instance="d"} 0x20
  failaware_node_info{instance="a",group="g",node="1"} 1x20
  failaware_node_info{instance="b",group="g",node="2"} 1x20
  failaware_node_info{instance="c",group="other",node="1"} 1x20
  failaware_node_info{instance="d",group="other",node="2"} 1x20`, `{group="g"} 2`},
	"FailawareSlowPeer": {`
  failaware_peer_packets_total{instance="a",peer="2",speed="fast"} 0+90x100
  failaware_peer_packets_total{instance="a",peer="2",speed="slow"} 0+10x100
  failaware_peer_packets_total{instance="a",peer="3",speed="fast"} 0+100x100
  failaware_peer_packets_total{instance="a",peer="3",speed="slow"} 0x100
  failaware_peer_packets_total{instance="a",peer="4",speed="fast"} 0+90x100
  failaware_peer_packets_total{instance="a",peer="4",speed="slow"} 0+10x100
  failaware_peer_alive{instance="a",peer="2"} 1x100
  failaware_peer_alive{instance="a",peer="3"} 1x100
  failaware_peer_alive{instance="a",peer="4"} 0x100`, `{instance="a",peer="2"} 0.1`},
	"FailawareViewStale": {`
  failaware_view_up_to_date{instance="a"} 0x20
  failaware_view_up_to_date{instance="b"} 1x20`, `failaware_view_up_to_date{instance="a"} 0`},
	"FailawareNoLeader": {`
  failaware_leader_id{instance="a"} 0x20
  failaware_leader_id{instance="b"} 3x20`, `failaware_leader_id{instance="a"} 0`},
	"FailawareProcessLate": {`
  failaware_loop_late_total{instance="a"} 0+2x100
  failaware_loop_lateness_seconds_count{instance="a"} 0+100x100
  failaware_loop_late_total{instance="b"} 0+1x100
  failaware_loop_lateness_seconds_count{instance="b"} 0+1000x100`, `{instance="a"} 0.02`},
	"FailawareElectionsFlap": {`
  failaware_leads_lost_total{instance="a",reason="lease expired",scope="local"} 0+1x100
  failaware_leads_lost_total{instance="a",reason="lease expired",scope="global"} 0+1x100
  failaware_leads_lost_total{instance="b",reason="resigned",scope="local"} 0+1x100`, `{instance="a"} 20`},
	"FailawareNoGlobalLeader": {`
  failaware_leads_globally{instance="a"} 0x20
  failaware_leads_globally{instance="b"} 0x20
  failaware_leads_globally{instance="c"} 0x20
  failaware_leads_globally{instance="d"} 1x20
  failaware_node_info{instance="a",group="g",node="1"} 1x20
  failaware_node_info{instance="b",group="g",node="2"} 1x20
  failaware_node_info{instance="c",group="other",node="1"} 1x20
  failaware_node_info{instance="d",group="other",node="2"} 1x20
  failaware_node_info{instance="e",group="none",node="1"} 1x20
  failaware_leads_globally{instance="f"} 0x20
  failaware_global_leader_id{instance="f"} 0x20
  failaware_node_info{instance="f",group="unreached",node="1"} 1x20
  failaware_leads_globally{instance="g"} 0x20
  failaware_global_leader_id{instance="g"} 3x20
  failaware_node_info{instance="g",group="unreached",node="2"} 1x20
  failaware_global_leader_id{instance="a"} 0x20`, `{group="g"} 0`},
	"FailawareTwoGlobalLeaders": {`
  failaware_leads_globally{instance="a"} 1x20
  failaware_leads_globally{instance="b"} 0x20
  failaware_leads_globally{instance="c"} 1x20
  failaware_leads_globally{instance="d"} 1x20
  failaware_node_info{instance="a",group="g",node="1"} 1x20
  failaware_node_info{instance="b",group="g",node="2"} 1x20
  failaware_node_info{instance="c",group="g",node="3"} 1x20
  failaware_node_info{instance="d",group="other",node="1"} 1x20`, `{group="g"} 2`},
	"FailawareVotersMissing": {`
  failaware_quorum_voters{instance="a"} 3x20
  failaware_quorum_voters_alive{instance="a"} 2x20
  failaware_quorum_voters{instance="b"} 3x20
  failaware_quorum_voters_alive{instance="b"} 3x20`, `failaware_quorum_voters_alive{instance="a"} 2`},
	"FailawareStoreWaits": {`
  failaware_store_accepting{instance="a"} 0x20
  failaware_store_accepting{instance="b"} 1x20`, `failaware_store_accepting{instance="a"} 0`},
	"FailawareBroadcastWaits": {`
  failaware_peer_lagging_seconds{instance="a",peer="2"} 12x40
  failaware_peer_lagging_seconds{instance="b",peer="1"} 3x40`, `{instance="a",peer="2"} 12`},
	"FailawareStoreConflicts": {`
  failaware_store_items{instance="a",item="conflicts"} 3x20
  failaware_store_items{instance="a",item="keys"} 7x20
  failaware_store_items{instance="b",item="conflicts"} 0x20`, `failaware_store_items{instance="a",item="conflicts"} 3`},
	"FailawareClockFault": {`
  failaware_events_total{instance="a",kind="clock-fault"} 0x15 1x40
  failaware_events_total{instance="b",kind="clock-fault"} 0x40`, `{instance="a",kind="clock-fault"} 1`},
	"FailawareNodeFault": {`
  failaware_events_total{instance="a",kind="inconsistent"} 0x15 1x40
  failaware_events_total{instance="a",kind="peer-cloned"} 0x40
  failaware_events_total{instance="a",kind="peer-duplicated"} 0x40
  failaware_events_total{instance="b",kind="view-fresh"} 0x15 1x40
  failaware_events_total{instance="new",kind="other-quorum"} _x30 3x30
  failaware_events_total{instance="new",kind="inconsistent"} _x30 0x30
  failaware_events_total{instance="old",kind="other-quorum"} 3x60`, `{instance="a",kind="inconsistent"} 1
  failaware_events_total{instance="new",kind="other-quorum"} 3`},
	"FailawareStoreFault": {`
  failaware_store_events_total{instance="a",kind="diverged"} 0x15 1x40
  failaware_store_events_total{instance="a",kind="rolledback"} 0x15 1x40
  failaware_store_events_total{instance="a",kind="discarded"} 0x15 1x40
  failaware_store_events_total{instance="b",kind="merged"} 0x15 1x40
  failaware_store_events_total{instance="new",kind="begun"} _x30 1x30
  failaware_store_events_total{instance="new",kind="lossy"} _x30 1x30`, `{instance="a",kind="diverged"} 1
  {instance="a",kind="rolledback"} 1
  failaware_store_events_total{instance="new",kind="lossy"} 1`},
	"FailawareStoreDiscarded": {`
  failaware_store_events_total{instance="a",kind="discarded"} 0x15 1x40
  failaware_store_events_total{instance="a",kind="rolledback"} 0x15 1x40
  failaware_store_events_total{instance="b",kind="discarded"} 1x60`, `{instance="a",kind="discarded"} 1`},
	"FailawareHandlersFail": {`
  failaware_handler_events_total{instance="a",outcome="failed"} 0x15 1x40
  failaware_handler_events_total{instance="b",outcome="handled"} 0x15 1x40`, `{instance="a",outcome="failed"} 1`},
	"FailawareForeignPackets": {`
  failaware_dropped_packets_total{instance="a",reason="key"} 0+60x100
  failaware_dropped_packets_total{instance="b",reason="unsealed"} 0+60x100
  failaware_dropped_packets_total{instance="c",reason="foreign"} 0+60x100
  failaware_dropped_packets_total{instance="d",reason="unaccepted"} 0+60x100
  failaware_dropped_packets_total{instance="e",reason="key"} 0+1x100
  failaware_dropped_packets_total{instance="f",reason="key"} 0+15x100`, `{instance="a",reason="key"} 2
  {instance="b",reason="unsealed"} 2
  {instance="c",reason="foreign"} 2
  {instance="f",reason="key"} 0.5`}, // f: a newcomer that asks every other second
	"FailawareUTCLost": {`
  failaware_clock_external{instance="had"} 1x10 0x50
  failaware_clock_external{instance="wide"} 0x60
  failaware_clock_utc_bound_seconds{instance="wide"} 0.08x60
  failaware_clock_external{instance="never"} 0x60
  failaware_clock_external{instance="dead"} 0x60
  failaware_clock_references{instance="dead"} 2x60
  failaware_clock_references{instance="good"} 2x60
  failaware_clock_external{instance="good"} 1x60
  failaware_clock_utc_bound_seconds{instance="good"} 0.001x60`, `failaware_clock_external{instance="had"} 0
  failaware_clock_external{instance="wide"} 0
  failaware_clock_external{instance="dead"} 0`},
}

// The alerts fire for what they say, and for nothing else.
func TestAlertsFire(t *testing.T) {
	all := rules(t)
	require.Len(t, situations, len(all), "every alert has a situation")
	for alert, c := range situations {
		t.Run(alert, func(t *testing.T) {
			require.Contains(t, all, alert)
			expr := strings.Join(strings.Fields(all[alert]), " ")
			at := "2m"
			if strings.Contains(expr, "[") {
				at = "20m"
			}
			test := "load 30s" + strings.ReplaceAll(c.load, "x20", "x60") + "\n\neval instant at " + at + " " + expr + "\n  " + c.want + "\n"
			promqltest.RunTest(t, test, promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery))
		})
	}
}

// window matches the windows of an expression.
var window = regexp.MustCompile(`\[(\w+)\]`)

// What was mended does not fire later: the windows of a rule are shorter than the time for which
// it must hold.
func TestMendedFaultsDoNotFire(t *testing.T) {
	for _, g := range parse(t).Groups {
		for _, r := range g.Rules {
			for _, m := range window.FindAllStringSubmatch(r.Expr, -1) {
				d, err := model.ParseDuration(m[1])
				require.NoError(t, err)
				if r.For > 0 && m[1] != "1d" {
					require.Less(t, d, r.For, r.Alert)
				}
			}
		}
	}
}

// scrapes matches the configurations of Prometheus in a page.
var scrapes = regexp.MustCompile("(?ms)^```yaml\n(scrape_configs:.*?)^```$")

// Prometheus takes the configurations of the page on metrics.
func TestScrapeConfigurations(t *testing.T) {
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("promtool is not installed")
	}
	page, err := os.ReadFile("../../docs/reference/metrics.md")
	require.NoError(t, err)
	all := scrapes.FindAllStringSubmatch(string(page), -1)
	require.Len(t, all, 2)
	for _, text := range all {
		file := filepath.Join(t.TempDir(), "prometheus.yml")
		require.NoError(t, os.WriteFile(file, []byte(text[1]), 0o600))
		out, err := exec.Command("promtool", "check", "config", "--syntax-only", file).CombinedOutput()
		require.NoError(t, err, "%s%s", text[1], out)
	}
}

// variable matches what Grafana replaces in expressions.
var variable = regexp.MustCompile(`\$__rate_interval|\$__interval`)

// All expressions of the dashboard are such of Prometheus, each panel is in its place, and
// no two panels overlap. The global leader and the store are on it.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../dashboard.json")
	require.NoError(t, err)
	var d struct {
		Panels []struct {
			ID      int    `json:"id"`
			Title   string `json:"title"`
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
		Annotations struct {
			List []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &d))
	for _, shown := range []string{"failaware_leads_globally{", "failaware_store_accepting{", "failaware_store_behind{", "failaware_store_applied_total{"} {
		require.Contains(t, string(text), shown)
	}
	p := parser.NewParser(parser.Options{})
	taken := map[[2]int]string{}
	for _, panel := range d.Panels {
		require.NotEmpty(t, panel.Targets, panel.Title)
		for _, target := range panel.Targets {
			_, err := p.ParseExpr(variable.ReplaceAllString(target.Expr, "5m"))
			require.NoError(t, err, panel.Title)
		}
		g := panel.GridPos
		require.LessOrEqual(t, g.X+g.W, 24, panel.Title)
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], "%s overlaps", panel.Title)
				taken[[2]int{x, y}] = panel.Title
			}
		}
	}
	for _, a := range d.Annotations.List {
		_, err := p.ParseExpr(variable.ReplaceAllString(a.Expr, "5m"))
		require.NoError(t, err)
	}
}
