package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Format is a form of printed answers.
type Format string

// The formats.
const (
	AsTable  Format = "table"
	AsJSON   Format = "json"
	AsNDJSON Format = "ndjson"
)

// outputFlag is the name of the flag for the format.
const outputFlag = "output"

// RegisterFormat adds the flag -o, whose default is [AsTable].
func RegisterFormat(fl *pflag.FlagSet) *Value[Format] {
	v := NewValue(string(AsTable), "table|json|ndjson", OneOf(Names(AsTable, AsJSON, AsNDJSON)...))
	fl.VarP(v, outputFlag, "o", "table, json or ndjson")
	return v
}

// FormatOf returns the format that the flags of cmd choose.
func FormatOf(cmd *cobra.Command) Format {
	if f := cmd.Flag(outputFlag); f != nil {
		return Format(f.Value.String())
	}
	return AsTable
}

// WriteJSON writes v as one line of JSON, or indented for [AsJSON].
func WriteJSON(w io.Writer, f Format, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if f == AsJSON {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// Print writes v as JSON, or calls text for [AsTable], with a writer as [Text] returns it.
func Print(cmd *cobra.Command, v any, text func(io.Writer) error) error {
	w, f := cmd.OutOrStdout(), FormatOf(cmd)
	if f == AsTable {
		return text(Text(w))
	}
	return WriteJSON(w, f, v)
}

// PrintLine writes v as JSON, or text as one line for [AsTable].
func PrintLine(cmd *cobra.Command, v any, text string) error {
	return Print(cmd, v, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, text)
		return err
	})
}
