package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/demo"
)

// A recording has each picture, and each row once.
func TestRowsAreWrittenOnce(t *testing.T) {
	var list []*demo.Canvas
	for _, text := range []string{"first", "second", "first"} {
		c := demo.NewCanvas(20, 3)
		c.Put(2, 0, demo.Style{Tone: demo.Good, Bold: true}, text)
		c.Put(0, 1, demo.Style{Tone: demo.Group, Filled: true}, " a < b ")
		list = append(list, c)
	}
	var b bytes.Buffer
	require.NoError(t, write(&b, list))
	text := b.String()
	for part, count := range map[string]int{">first<": 1, ">second<": 1, "a &lt; b": 1, `class="p"`: 3, "<use ": 6, `x="28" y="13" textLength="40"`: 1} {
		require.Equal(t, count, strings.Count(text, part), part)
	}
	d := xml.NewDecoder(&b)
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
}

// The recording of the README is small enough for a page.
func TestTheRecordingIsSmall(t *testing.T) {
	info, err := os.Stat("../../../docs/figures/demo.svg")
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(300_000))
}
