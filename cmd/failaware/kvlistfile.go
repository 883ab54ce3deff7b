package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/failaware/failaware/internal/api"
	"github.com/failaware/failaware/internal/cli"
	"github.com/failaware/failaware/internal/kv"
)

// maxListBytes is the limit of a list that is imported. The largest list of a store is a
// third of it, unless its keys consist of characters that JSON escapes.
const maxListBytes = 256 << 20

var errNoList = errors.New(`it is not the output of "kv list --all -o json"`)

// readList reads the keys and values of a list from a file, or from the standard input if
// that is "-", as commands that write them. Those of keys with a lease have a Lease.
func readList(cmd *cobra.Command, file string) (list []api.KVCommand, err error) {
	in := cmd.InOrStdin()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, cli.Wrong("FILE: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxListBytes))
	switch {
	case err != nil:
		return nil, cli.Wrong("FILE: %w", err)
	case len(text) == maxListBytes:
		return nil, cli.Wrong("FILE: %s has %d bytes or more", file, maxListBytes)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for pages := 0; ; pages++ {
		var page struct {
			Items *[]api.KVItem `json:"items"`
			More  bool          `json:"more"`
		}
		switch err := d.Decode(&page); {
		case err == io.EOF && pages > 0:
			return list, checkList(file, list, text)
		case err != nil:
			return nil, cli.Wrong("FILE: %s: %w: %w", file, errNoList, jsonError(err))
		case page.Items == nil:
			return nil, cli.Wrong("FILE: %s: %w", file, errNoList)
		case page.More:
			return nil, cli.Wrong("FILE: %s is one page of a longer list: list with --all", file)
		}
		for k := range *page.Items {
			i := &(*page.Items)[k]
			value, err := valueOf(i.Value)
			if err != nil {
				return nil, cli.Wrong("FILE: %s: item %d: the value is not base64", file, len(list)+1)
			}
			c := api.KVCommand{Op: "put", Key: i.Key, Value: append([]byte{}, value...)}
			if i.Lease != "" {
				c.Lease = &i.Lease
			}
			list = append(list, c)
		}
	}
}

// jsonError is an error of a decoder without the names of Go's types, which say nothing about
// the file.
func jsonError(err error) error {
	e, ok := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case !ok:
		return err
	case e.Field == "":
		return fmt.Errorf("a JSON %s is no object", e.Value)
	}
	return fmt.Errorf("byte %d: a JSON %s is no value of %q", e.Offset, e.Value, e.Field)
}

// checkList refuses a list that no store has printed.
func checkList(file string, list []api.KVCommand, text []byte) error {
	seen := make(map[string]bool, len(list))
	for k := range list {
		c := &list[k]
		err := kv.CheckKey(c.Key)
		switch {
		case err != nil:
		case len(c.Value) > kv.MaxValueBytes:
			err = kv.ErrValue
		case seen[c.Key]:
			err = fmt.Errorf("key %q is there twice", c.Key)
		}
		if err != nil {
			return cli.Wrong("FILE: %s: item %d: %w", file, k+1, err)
		}
		seen[c.Key] = true
	}
	if api.KeysReplaced(list, text) {
		return cli.Wrong("FILE: %s: %w: a key is not UTF-8", file, errNoList)
	}
	return nil
}
