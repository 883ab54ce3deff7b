package api

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/failaware/failaware/internal/kv"
)

// A client reads the largest answers of a store: a lease of as many keys as there can be, and a
// page of keys that JSON has to escape.
func TestTheLargestAnswersAreRead(t *testing.T) {
	lease := KVLease{Lease: kv.Dot{Writer: 1, Number: 1}.String(), Found: true}
	for i := range kv.MaxKeys {
		lease.Keys = append(lease.Keys, fmt.Sprintf("%0*d", kv.MaxKeyBytes, i))
	}
	page := KVList{More: true}
	value := base64Of(make([]byte, kv.MaxListBytes/kv.MaxList-kv.MaxKeyBytes-kv.EntryBytes))
	for i := range kv.MaxList {
		page.Items = append(page.Items, KVItem{Key: strings.Repeat("<", kv.MaxKeyBytes-4) + fmt.Sprintf("%04d", i), Value: value, Version: "1", Lease: lease.Lease})
	}
	mux := http.NewServeMux()
	mux.HandleFunc(kvPath+"lease", func(w http.ResponseWriter, _ *http.Request) { Answer(w, http.StatusOK, lease) })
	mux.HandleFunc(kvPath+"list", func(w http.ResponseWriter, _ *http.Request) { Answer(w, http.StatusOK, page) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = ServeUntil(t.Context(), l, mux) }()
	c := NewClient(Address{URL: "http://" + l.Addr().String()}, "")

	var gotLease KVLease
	require.NoError(t, c.AskStore(t.Context(), http.MethodGet, "lease", url.Values{}, nil, &gotLease))
	require.True(t, len(gotLease.Keys) == kv.MaxKeys && gotLease.Keys[kv.MaxKeys-1] == lease.Keys[kv.MaxKeys-1])
	var gotPage KVList
	require.NoError(t, c.AskStore(t.Context(), http.MethodGet, "list", url.Values{}, nil, &gotPage))
	require.True(t, len(gotPage.Items) == kv.MaxList && gotPage.Items[kv.MaxList-1] == page.Items[kv.MaxList-1])
}
