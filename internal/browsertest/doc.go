// Package browsertest has the tests of the dashboard, and of the site of the documents, in
// a real browser: Chromium, driven over its devtools protocol. They are skipped where there
// is no Chromium.
//
// testdata/axe is axe-core, which looks for barriers to people who use a keyboard or a
// screen reader. It is under the MPL-2.0, is used by these tests only, and is part of no
// program; its licence is beside it.
//
// The tests save screenshots with `go test -artifacts -outputdir DIR`.
package browsertest
