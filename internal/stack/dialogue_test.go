package stack

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/broadcast"
	"github.com/failaware/failaware/clocksync"
	"github.com/failaware/failaware/internal/wire"
	"github.com/failaware/failaware/leader"
	"github.com/failaware/failaware/leader/epoch"
	"github.com/failaware/failaware/leader/quorum"
	"github.com/failaware/failaware/timed"
)

// TestDialogues plays the dialogues of testdata, which are meant to be read. Each file is
// commands and what follows from them; go test -run Dialogues -rewrite writes what
// follows now. testdata/README.md explains the commands.
func TestDialogues(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if filepath.Ext(path) == ".md" {
			return
		}
		var d *dialogue
		datadriven.RunTest(t, path, func(t *testing.T, c *datadriven.TestData) string {
			if c.Cmd == "nodes" {
				var err error
				d, err = newDialogue(c.CmdArgs)
				require.NoError(t, err, c.Pos)
				return ""
			}
			require.NotNil(t, d, "%s: the first command is not nodes", c.Pos)
			command, ok := commands[c.Cmd]
			require.True(t, ok, "%s: there is no command %s", c.Pos, c.Cmd)
			require.NoError(t, command(d, c.CmdArgs), c.Pos)
			return d.take()
		})
	})
}

// commands are those of dialogues, besides nodes.
var commands = map[string]func(d *dialogue, args []datadriven.CmdArg) error{
	"settle":    (*dialogue).settleCommand,
	"run":       (*dialogue).runCommand,
	"until":     (*dialogue).untilCommand,
	"show":      (*dialogue).showCommand,
	"cut":       (*dialogue).cutCommand,
	"heal":      (*dialogue).healCommand,
	"lose":      (*dialogue).loseCommand,
	"crash":     (*dialogue).crashCommand,
	"start":     (*dialogue).startCommand,
	"resign":    (*dialogue).resignCommand,
	"verify":    (*dialogue).verifyCommand,
	"propose":   (*dialogue).proposeCommand,
	"broadcast": (*dialogue).broadcastCommand,
}

// newDialogue makes a group: nodes COUNT [mode=strict] [rank=id] [quorum=SYSTEM]
// [epochs=SYSTEM] [broadcast] [collate=ABOVE].
func newDialogue(args []datadriven.CmdArg) (*dialogue, error) {
	d := &dialogue{now: origin, delay: time.Millisecond, disks: map[timed.NodeID]*epoch.State{}, cut: map[[2]timed.NodeID]bool{}}
	d.cfg = Config{Group: 1, Timing: timed.LAN(), MaxDeviation: clocksync.DefaultMaxDeviation,
		MaxSlew: clocksync.DefaultMaxSlew, StepThreshold: clocksync.DefaultStepThreshold}
	if len(args) == 0 {
		return nil, errors.New("how many nodes?")
	}
	count, err := strconv.Atoi(args[0].Key)
	if err != nil {
		return nil, err
	}
	for id := range count {
		d.peers.Add(timed.NodeID(id + 1))
	}
	for _, a := range args[1:] {
		if err := d.configure(a); err != nil {
			return nil, err
		}
	}
	for id := range d.peers.All() {
		d.startNode(id)
	}
	return d, nil
}

// configure takes an option of the command nodes.
func (d *dialogue) configure(a datadriven.CmdArg) (err error) {
	value := ""
	if len(a.Vals) > 0 {
		value = a.Vals[0]
	}
	switch a.Key {
	case "mode":
		d.cfg.Mode, err = leader.ParseMode(value)
	case "rank":
		d.cfg.RankBy, err = leader.ParseRankBy(value)
	case "quorum":
		d.cfg.Epoch = 1
		d.cfg.Quorum, err = quorum.Parse(value)
	case "epochs":
		d.cfg.Epochs = &epoch.State{Epoch: 1, System: value}
		for id := range d.peers.All() {
			d.disks[id] = d.cfg.Epochs
		}
	case "broadcast":
		d.cfg.Broadcast = &broadcast.Config{}
	case "collate":
		d.cfg.Collation.Fanout = 2
		d.cfg.Collation.Above, err = strconv.Atoi(value)
	default:
		err = fmt.Errorf("there is no option %s", a.Key)
	}
	return err
}

// node returns the node of an argument.
func (d *dialogue) node(text string) (timed.NodeID, error) {
	n, err := strconv.Atoi(text)
	if err != nil || !d.peers.Has(timed.NodeID(n)) {
		return 0, fmt.Errorf("there is no node %s", text)
	}
	return timed.NodeID(n), nil
}

// running returns the process of the node that the i-th argument names.
func (d *dialogue) running(args []datadriven.CmdArg, i int) (*talker, error) {
	if i >= len(args) {
		return nil, errors.New("which node?")
	}
	id, err := d.node(args[i].Key)
	if err != nil {
		return nil, err
	}
	p := d.process(id)
	if p == nil {
		return nil, fmt.Errorf("node %v is down", id)
	}
	return p, nil
}

// settleCommand: settle
func (d *dialogue) settleCommand([]datadriven.CmdArg) error {
	for limit := d.now.Add(3 * time.Second); !d.settled(); {
		if !d.step(limit) {
			return errors.New("the group does not settle")
		}
	}
	d.lines = nil
	return d.showCommand(nil)
}

// runCommand: run DURATION [quiet]
func (d *dialogue) runCommand(args []datadriven.CmdArg) error {
	if len(args) == 0 {
		return errors.New("how long?")
	}
	duration, err := time.ParseDuration(args[0].Key)
	if err != nil {
		return err
	}
	d.quiet = len(args) > 1 && args[1].Key == "quiet"
	for limit := d.now.Add(duration); d.step(limit); {
	}
	d.quiet = false
	return nil
}

// untilCommand: until NODE TEXT [quiet]
func (d *dialogue) untilCommand(args []datadriven.CmdArg) error {
	if len(args) < 2 {
		return errors.New("until which event of which node?")
	}
	d.quiet = args[len(args)-1].Key == "quiet"
	if d.quiet {
		args = args[:len(args)-1]
	}
	var words []string
	for _, a := range args[1:] {
		words = append(words, a.Key)
	}
	text := strings.Join(words, " ")
	defer func() { d.quiet = false }()
	for seen, limit := 0, d.now.Add(3*time.Second); d.step(limit); seen = len(d.lines) {
		for _, l := range d.lines[seen:] {
			if strings.TrimRight(l.from, "'") == args[0].Key && strings.Contains(l.text, text) {
				return nil
			}
		}
	}
	return fmt.Errorf("%q does not happen at node %s: %s", text, args[0].Key, d.take())
}

// showCommand: show
func (d *dialogue) showCommand([]datadriven.CmdArg) error {
	for _, p := range d.processes {
		if !p.down {
			d.print(p, stateText(d.now, p))
		}
	}
	return nil
}

// cutCommand: cut NODES NODES, where NODES are like 1,2
func (d *dialogue) cutCommand(args []datadriven.CmdArg) error {
	if len(args) != 2 {
		return errors.New("cut what from what?")
	}
	for a := range strings.SplitSeq(args[0].Key, ",") {
		for b := range strings.SplitSeq(args[1].Key, ",") {
			from, err := d.node(a)
			if err != nil {
				return err
			}
			to, err := d.node(b)
			if err != nil {
				return err
			}
			d.cut[[2]timed.NodeID{from, to}], d.cut[[2]timed.NodeID{to, from}] = true, true
		}
	}
	return nil
}

// healCommand: heal
func (d *dialogue) healCommand([]datadriven.CmdArg) error {
	clear(d.cut)
	return nil
}

// frames are the names of frames in the command lose.
var frames = map[string]wire.Frames{"request": wire.FrameRequest, "reply": wire.FrameReply, "broadcast": wire.FrameBroadcast}

// loseCommand: lose FROM TO FRAME
func (d *dialogue) loseCommand(args []datadriven.CmdArg) error {
	if len(args) != 3 || frames[args[2].Key] == 0 {
		return errors.New("lose which frame from which node to which?")
	}
	from, err := d.node(args[0].Key)
	if err != nil {
		return err
	}
	to, err := d.node(args[1].Key)
	d.losses = append(d.losses, loss{from, to, frames[args[2].Key]})
	return err
}

// crashCommand: crash NODE
func (d *dialogue) crashCommand(args []datadriven.CmdArg) error {
	p, err := d.running(args, 0)
	if err == nil {
		p.down = true
	}
	return err
}

// startCommand: start NODE, beside another process of that node if there is one
func (d *dialogue) startCommand(args []datadriven.CmdArg) error {
	if len(args) != 1 {
		return errors.New("which node?")
	}
	id, err := d.node(args[0].Key)
	if err == nil {
		d.startNode(id)
	}
	return err
}

// resignCommand: resign NODE [to=NODE]
func (d *dialogue) resignCommand(args []datadriven.CmdArg) error {
	p, err := d.running(args, 0)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		d.perform(p, nil, p.stack.Resign(d.now, nil))
		return nil
	}
	to, err := d.node(args[1].Vals[0])
	if err == nil {
		d.perform(p, nil, p.stack.HandOver(d.now, to, nil))
	}
	return err
}

// verifyCommand: verify ASKER NODE
func (d *dialogue) verifyCommand(args []datadriven.CmdArg) error {
	asker, err := d.running(args, 0)
	if err != nil {
		return err
	}
	about, err := d.running(args, 1)
	if err == nil {
		d.perform(asker, nil, asker.stack.Verify(d.now, about.id, nil))
	}
	return err
}

// proposeCommand: propose NODE SYSTEM
func (d *dialogue) proposeCommand(args []datadriven.CmdArg) error {
	p, err := d.running(args, 0)
	if err != nil || len(args) != 2 {
		return errors.Join(err, errors.New("propose what?"))
	}
	return p.stack.Propose(d.now, args[1].Key)
}

// broadcastCommand: broadcast NODE TEXT [order=unordered|total|timed] [atomicity=weak|strong|strict]
func (d *dialogue) broadcastCommand(args []datadriven.CmdArg) error {
	p, err := d.running(args, 0)
	if err != nil || len(args) < 2 {
		return errors.Join(err, errors.New("broadcast what?"))
	}
	opt := broadcast.Options{Order: broadcast.TotalOrder, Atomicity: broadcast.StrongAtomicity}
	for _, a := range args[2:] {
		for _, o := range []broadcast.Order{broadcast.Unordered, broadcast.TotalOrder, broadcast.TimedOrder} {
			if a.Key == "order" && a.Vals[0] == o.String() {
				opt.Order = o
			}
		}
		for _, o := range []broadcast.Atomicity{broadcast.WeakAtomicity, broadcast.StrongAtomicity, broadcast.StrictAtomicity} {
			if a.Key == "atomicity" && a.Vals[0] == o.String() {
				opt.Atomicity = o
			}
		}
	}
	_, err = p.stack.Broadcast(d.now, []byte(args[1].Key), opt)
	return err
}
