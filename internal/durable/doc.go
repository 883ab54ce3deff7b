// Package durable keeps small records in files, for what must outlive a process
// and a power failure: each write replaces the whole record, and after a crash
// the file holds either the old record or the new one.
//
// A file is one line of text, which names the kind of the record, the version of
// its format, the size and the checksum of what follows, and then the content.
// Every byte is covered: a file that was cut short, or of which a single byte has
// changed, is refused with an error that says which file and what is wrong with
// it ([DamagedError]). A record that was written by a disk that lies about what
// it has stored is beyond that, as is one that was replaced by an older copy.
//
// Reading and writing one file at a time is the caller's business; different
// files may be used concurrently.
package durable
