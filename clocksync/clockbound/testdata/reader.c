/*
 * A reader of a ClockBound segment, version 2, written from the documented layout.
 *
 *   reader check PATH COUNT   reads COUNT records and fails on the first whose fields do
 *                             not match the numbers that the test writes
 *   reader now PATH           prints status, earliest and latest, in nanoseconds
 *   reader dump PATH          prints the fields
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct stamp { int64_t sec, nsec; };

struct data {
	struct stamp as_of, void_after;
	int64_t bound_nsec;
	uint64_t disruption_marker;
	uint32_t max_drift_ppb;
	int32_t status;
	uint8_t disruption_supported;
	uint8_t padding[7];
};

struct segment {
	uint32_t magic[2];
	uint32_t size;
	_Atomic uint16_t version;
	_Atomic uint16_t generation;
	volatile struct data data;
};

_Static_assert(sizeof(struct segment) == 80, "size");
_Static_assert(offsetof(struct segment, generation) == 14, "generation");
_Static_assert(offsetof(struct segment, data.void_after) == 32, "void_after");
_Static_assert(offsetof(struct segment, data.max_drift_ppb) == 64, "max_drift");
_Static_assert(offsetof(struct segment, data.disruption_supported) == 72, "supported");

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static int whole(struct segment *s, struct data *d)
{
	uint16_t before = atomic_load_explicit(&s->generation, memory_order_acquire);
	if (before == 0 || before % 2 != 0)
		return 0;
	*d = s->data;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&s->generation, memory_order_relaxed) == before;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;
	if (clock_gettime(id, &t) != 0)
		die("clock_gettime");
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Every field is a function of the number of the record. */
static int belongs(const struct data *d)
{
	uint64_t k = (uint64_t)d->as_of.sec;
	return d->as_of.nsec == (int64_t)(k % 1000000000) &&
	       d->void_after.sec == (int64_t)(k + 7) && d->void_after.nsec == d->as_of.nsec &&
	       d->bound_nsec == (int64_t)(3 * k) && d->disruption_marker == ~k &&
	       d->max_drift_ppb == (uint32_t)(k % 1000003) && d->status == (int32_t)(k % 4) &&
	       d->disruption_supported == 0;
}

int main(int argc, char **argv)
{
	struct data d;
	if (argc < 3)
		return 2;
	int fd = open(argv[2], O_RDONLY);
	if (fd < 0)
		die(argv[2]);
	struct segment *s = mmap(NULL, sizeof *s, PROT_READ, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		die("mmap");
	if (s->magic[0] != 0x414D5A4E || s->magic[1] != 0x43420200 || s->size != sizeof *s || s->version != 2) {
		fprintf(stderr, "not a segment of version 2\n");
		return 2;
	}
	if (strcmp(argv[1], "check") == 0) {
		uint64_t torn = 0;
		int64_t last = 0;
		printf("ready\n");
		fflush(stdout);
		for (long n = atol(argv[3]); n > 0;) {
			if (!whole(s, &d)) {
				torn++;
				continue;
			}
			if (!belongs(&d) || d.as_of.sec < last) {
				fprintf(stderr, "a torn record passed for whole: %" PRId64 ".%" PRId64 ", bound %" PRId64 ", after %" PRId64 "\n",
					d.as_of.sec, d.as_of.nsec, d.bound_nsec, last);
				return 1;
			}
			last = d.as_of.sec;
			n--;
		}
		printf("%" PRIu64 "\n", torn);
		return 0;
	}
	while (!whole(s, &d))
		;
	if (strcmp(argv[1], "dump") == 0) {
		printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu32 " %" PRId32 "\n",
		       d.as_of.sec, d.as_of.nsec, d.void_after.sec, d.void_after.nsec, d.bound_nsec,
		       d.disruption_marker, d.max_drift_ppb, d.status);
		return 0;
	}
	int64_t real = clock_ns(CLOCK_REALTIME), mono = clock_ns(CLOCK_MONOTONIC_COARSE);
	int64_t age = mono - (d.as_of.sec * 1000000000 + d.as_of.nsec);
	int64_t bound = d.bound_nsec + (int64_t)((double)age * d.max_drift_ppb / 1e9) + 1;
	printf("%" PRId32 " %" PRId64 " %" PRId64 "\n", d.status, real - bound, real + bound);
	return 0;
}
