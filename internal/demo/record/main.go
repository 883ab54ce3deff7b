// Command record writes the recording of the demonstration that the README shows: an SVG
// that moves without a program.
//
//	go run ./internal/demo/record >docs/figures/demo.svg
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"unicode/utf8"

	"github.com/failaware/failaware/internal/demo"
	"github.com/failaware/failaware/internal/svg"
)

// The size of the terminal, and of its cells.
const (
	columns, rows     = 104, 26
	cellWidth, height = 8.0, 17.0
	margin            = 12.0
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	world, err := demo.NewWorld(demo.Options{Nodes: 5, Preset: "lan"})
	if err != nil {
		return err
	}
	defer world.Close()
	pictures, err := demo.Record(ctx, world, columns, rows)
	if err != nil {
		return err
	}
	return write(out, pictures)
}

// still is the picture that those see who want no motion: the group is split.
const still = 5

// write writes pictures that are shown one after the other, for ever. Rows that several
// pictures have are written once.
func write(out io.Writer, pictures []*demo.Canvas) error {
	o := svg.New(out, columns*cellWidth+2*margin, rows*height+2*margin, "failaware demo",
		"Five nodes are split in two, healed, and one of them is paused: each part has a leader and a fresh view of its own.")
	total := float64(len(pictures)) * demo.RecordEvery.Seconds()
	o.Style(fmt.Sprintf(style, total, 100/float64(len(pictures))))
	names := map[string]string{}
	o.Open("defs")
	for _, p := range pictures {
		for y := range p.Height {
			text := rowText(p, y)
			if names[text] == "" && strings.TrimSpace(text) != "" {
				names[text] = fmt.Sprint("r", len(names))
				row(o, p, y, names[text])
			}
		}
	}
	o.Close()
	for i, p := range pictures {
		class := "p"
		if i == still {
			class = "p still"
		}
		o.Open("g", "class", class, "style", fmt.Sprintf("animation-delay:%gs", float64(i)*demo.RecordEvery.Seconds()))
		o.Element("rect", "", "", "class", "screen", "width", "100%", "height", "100%", "rx", "8")
		for y := range p.Height {
			if name := names[rowText(p, y)]; name != "" {
				o.Element("use", "", "", "href", "#"+name, "y", svg.Number(margin+float64(y)*height))
			}
		}
		o.Close()
	}
	return o.End()
}

const background = "#15181e"

const style = `text{font:13.3px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dae0;white-space:pre}` +
	`.screen{fill:` + background + `}.b{font-weight:bold}.p{visibility:hidden;animation:show %gs step-end infinite}` +
	`@keyframes show{0%%{visibility:visible}%g%%{visibility:hidden}}` +
	`@media(prefers-reduced-motion){.p{animation:none}.still{visibility:visible}}`

// colors are those of the tones on a dark background, by their numbers.
var colors = map[demo.Tone]string{demo.Quiet: "#8b919d", demo.Good: "#5fbf6b", demo.Warn: "#e0a33e", demo.Bad: "#f0616d", demo.Accent: "#6ea8e0",
	demo.Group: "#4c9df0", demo.Group + 1: "#f08a4b", demo.Group + 2: "#c07be8", demo.Group + 3: "#35c0b5", demo.Group + 4: "#ef7fb2", demo.Group + 5: "#b5c24a"}

// rowText identifies a row of a picture, with its looks.
func rowText(p *demo.Canvas, y int) string {
	var b strings.Builder
	last := demo.Style{}
	for x := range p.Width {
		c := p.At(x, y)
		if c.Style != last {
			fmt.Fprintf(&b, "\x00%v", c.Style)
			last = c.Style
		}
		b.WriteRune(c.Rune)
	}
	return strings.TrimRight(b.String(), " ")
}

// row writes a row as runs of one look each.
func row(o *svg.Writer, p *demo.Canvas, y int, name string) {
	o.Open("g", "id", name)
	for x := 0; x < p.Width; {
		look, end := p.At(x, y).Style, x
		var b strings.Builder
		for ; end < p.Width && p.At(end, y).Style == look; end++ {
			b.WriteRune(p.At(end, y).Rune)
		}
		part(o, b.String(), look, x)
		x = end
	}
	o.Close()
}

// part writes text of one look that begins in a column.
func part(o *svg.Writer, text string, look demo.Style, x int) {
	left := margin + float64(x)*cellWidth
	color := colors[look.Tone]
	if look.Filled {
		o.Element("rect", "", "", "x", svg.Number(left), "width", svg.Number(float64(utf8.RuneCountInString(text))*cellWidth), "height", svg.Number(height), "fill", color)
		color = background
	}
	trimmed := strings.TrimLeft(text, " ")
	left += float64(utf8.RuneCountInString(text)-utf8.RuneCountInString(trimmed)) * cellWidth
	trimmed = strings.TrimRight(trimmed, " ")
	if trimmed == "" {
		return
	}
	attributes := []string{"x", svg.Number(left), "y", "13", "textLength", svg.Number(float64(utf8.RuneCountInString(trimmed)) * cellWidth)}
	if color != "" {
		attributes = append(attributes, "style", "fill:"+color)
	}
	if look.Bold {
		attributes = append(attributes, "class", "b")
	}
	o.Element("text", "", trimmed, attributes...)
}
