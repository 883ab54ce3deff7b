// Package durable keeps small records in files, for data that must survive the end of
// the process and a power failure. Each write replaces the whole record, and after a
// crash the file holds either the old record or the new one.
//
// A file is one line of text, which names the kind of the record, the version of its
// format, and the size and checksum of the content, and then the content. Every byte is
// covered: a file that was truncated, or in which a single byte has changed, is refused
// with an error that names the file and the fault ([DamagedError]). The checksum cannot
// detect a disk that falsely reports data as stored, or a record that was replaced by
// an older copy.
//
// Callers must not read or write one file concurrently. Different files may be used
// concurrently.
package durable
