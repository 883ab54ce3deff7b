// Package journal keeps records in the files of a directory, in order, for data that
// must survive the end of the process and a power failure.
//
// Records are appended in batches. [Journal.Append] returns when the batch is on the
// disk, and after a crash the journal has all of a batch or nothing of it. A [Writer]
// makes batches of the records that many callers append, with one flush for each batch,
// in a goroutine of its own. A snapshot stands for all records up to one, whose files
// are then removed.
//
// Everything is covered by checksums, and the checksum of each batch continues that of the
// batch before it. A journal therefore tells two faults apart. A batch at the very end that
// was never flushed is cut off, because nobody was told that it is kept. Any other fault
// means that data on which somebody relies is lost: [Open] refuses the journal with a
// [*DamagedError], which names the file and the offset, or with a [*MissingError], which
// names the file.
//
// # Files
//
// A segment holds batches. Its name has the number of its first record. The file begins
// with a header:
//
//	"failaware log 1\n"   16 bytes
//	journal                8 bytes   a random number, the same in all files of a journal
//	first                  8 bytes   the number of the first record, which the file's name repeats
//	chain                  4 bytes   the checksum of the last batch before
//	checksum               4 bytes   of the bytes above
//
// Batches follow, each at a multiple of four bytes:
//
//	mark                   4 bytes
//	length                 4 bytes   of the records, in bytes
//	first                  8 bytes   the number of the first record
//	flushed                8 bytes   the offset up to which the file was flushed before
//	count                  4 bytes   of the records
//	chain                  4 bytes   checksum of the batch before, the fields above, and the records
//	checksum               4 bytes   of the journal, the file, the offset, and the fields above
//	records                          each with its length in front of it
//
// The fields of a batch can be recognized wherever they stand. After a fault, a later
// batch tells by its "flushed" whether what is faulty had been flushed. An empty batch
// says this for the last batch while there is no other. A last batch without records,
// whose count is all ones, says that another segment follows. It is on the disk before
// anything in the next segment is reported, so that the loss of that segment is noticed; if
// a crash has left it out, the next [Open] writes it.
//
// A snapshot begins with a similar header, and has its content in pieces, each with its
// length and a checksum that continues the one before. A piece without content ends it,
// with the size and the SHA-256 of the content.
//
// A file gets its name when its header, and all of a snapshot, has been flushed. So a
// file without them is damaged, and not new. Numbers are big-endian, and checksums are
// CRC-32C.
//
// The format assumes that a write does not change bytes around it, whatever happens to the
// power, and that a flush is done when the system says so. After a flush that failed, the
// system may read what the disk does not have. So [Open] writes once more what no batch
// says to be flushed, and fails with [ErrFull] if the disk has no room for that. The format
// does not notice an older copy of the whole directory or of the last segment, a last
// segment that is cut off, damage of the last batch if nothing behind it says that it was
// flushed, or the loss of the only file. Nor does it notice the loss of a snapshot while
// the log has all its records. A caller whose snapshot contains more than its records led
// to appends a record that says so before the snapshot, and another record after it. If
// [Journal.Replay] shows both, the snapshot is lost, and the caller returns
// [Journal.MissingSnapshot].
package journal
