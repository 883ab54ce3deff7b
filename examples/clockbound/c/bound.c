/*
 * Prints between which two instants UTC is now, by the ClockBound segment of a node.
 * See README.md.
 *
 *     bound PATH
 *
 * Exit code 0: the bound is proven; 1: UTC is not known; 2: there is no segment.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

struct stamp { int64_t sec, nsec; };

/* Version 2 of the layout: 80 bytes, in the byte order of the machine. */
struct segment {
	uint32_t magic[2];
	uint32_t size;
	_Atomic uint16_t version, generation;
	volatile struct {
		struct stamp as_of, void_after;  /* CLOCK_MONOTONIC_COARSE */
		int64_t bound_nsec;              /* of CLOCK_REALTIME from UTC, at as_of */
		uint64_t disruption_marker;
		uint32_t max_drift_ppb;          /* the growth of the bound since then */
		int32_t status;                  /* 1 synchronized, 2 free running, 3 disrupted, 0 unknown */
		uint64_t padding;
	} d;
};

static int64_t ns(int64_t sec, int64_t nsec) { return sec * 1000000000 + nsec; }

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return ns(t.tv_sec, t.tv_nsec);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: bound PATH, of a segment\n");
		return 2;
	}
	int fd = open(argv[1], O_RDONLY);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) != 0) {
		perror(argv[1]);
		return 2;
	}
	struct segment *s = MAP_FAILED;
	if (info.st_size >= (off_t)sizeof *s)
		s = mmap(NULL, sizeof *s, PROT_READ, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED || s->magic[0] != 0x414D5A4E || s->magic[1] != 0x43420200 || s->version != 2) {
		fprintf(stderr, "%s: not a segment of version 2\n", argv[1]);
		return 2;
	}
	int64_t as_of, void_after, bound;
	uint32_t drift;
	int32_t status;
	uint16_t before, after;
	int tries = 0;
	do { /* the generation is odd while the node writes, and has changed if it wrote meanwhile */
		before = atomic_load_explicit(&s->generation, memory_order_acquire);
		as_of = ns(s->d.as_of.sec, s->d.as_of.nsec);
		void_after = ns(s->d.void_after.sec, s->d.void_after.nsec);
		bound = s->d.bound_nsec, drift = s->d.max_drift_ppb, status = s->d.status;
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&s->generation, memory_order_relaxed);
		if (before == after && before % 2 == 0 && before != 0)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
	} while (++tries < 1000); /* a node that was killed while it wrote leaves it odd */

	/* REALTIME first: a delay between the two readings widens the bound. */
	int64_t real = clock_ns(CLOCK_REALTIME), now = clock_ns(CLOCK_MONOTONIC_COARSE);
	/* A later as_of is from before the machine was started again. */
	if (tries == 1000 || now < as_of || now > void_after || (status != 1 && status != 2)) {
		printf("UTC is not known\n");
		return 1;
	}
	bound += (now - as_of) / 1000 * drift / 1000000 + 1;
	printf("UTC is between %" PRId64 " and %" PRId64 " ns since 1970 (± %" PRId64 " ns)%s\n", real - bound, real + bound, bound,
	       status == 2 || now > as_of + 5000000000 ? ", free running" : "");
	return 0;
}
