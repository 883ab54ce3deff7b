package diagram

import (
	"fmt"
	"io"
)

// Render draws the run and writes the picture to w as SVG. It returns an error that
// names the field if the run or the options cannot be drawn, before anything
// is written, and otherwise the error of w. It keeps nothing of the run;
// several goroutines may render one Run at a time while it does not change.
func Render(w io.Writer, r *Run, o Options) error {
	if err := validate(r, &o); err != nil {
		return err
	}
	if err := draw(r, o).encode(w); err != nil {
		return fmt.Errorf("diagram: %w", err)
	}
	return nil
}

// A drawing is a scene under construction, built from the top downward.
type drawing struct {
	run     *Run
	options Options
	scene   scene
	time    scale
	colours colouring
	lanes   []lane
	taken   placer          // where texts and marks are, within the lanes
	seen    map[string]bool // the classes that the legend explains
	poles   []pole          // vertical lines from texts above the lanes
	notes   []string        // about parts that are left out
	dropped int             // labels of marks that found no room
	y       float64         // the lower end of the layout so far
}

// draw lays out the picture: heading, texts above the lanes, lanes and their
// contents, messages between them, time axis, legend, notes.
func draw(r *Run, o Options) *scene {
	d := &drawing{run: r, options: o, colours: colouringOf(r), seen: map[string]bool{}}
	d.time = scale{from: r.From, to: r.To}
	if o.From != 0 || o.To != 0 {
		d.time.from, d.time.to = o.From, o.To
	}
	d.horizontal()
	d.header()
	d.aboveLanes()
	d.layLanes()
	d.axis()
	d.drawPoles()
	d.bars()
	d.laneMarks()
	d.messages()
	d.legend()
	d.footer()
	d.scene.width, d.scene.height = d.time.x1+plotRight, d.y+margin
	d.scene.title, d.scene.description = d.describe()
	return &d.scene
}
