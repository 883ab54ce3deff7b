# The two commands of the README are `make demo` and `make test`. Both need Go
# (the version in go.mod) and nothing else; modules are fetched by Go itself.

GO ?= go
FUZZTIME ?= 5s
MUTANTFLAGS ?=
PLANT = $(GO) run ./internal/mutant/plant
SIMSEEDS ?= 200
STATESEEDS ?= 200
TIME ?= 1h
FIRST ?= 1000000
REPORT ?= docs/sim-report.md

.PHONY: all demo test lint unit mutants fuzz sim sim-long bench build clean

all: build

# A group of five nodes over loopback, live in the terminal; `q` ends it.
demo:
	$(GO) run ./cmd/failaware demo

# Everything that must hold before a change lands.
test: lint unit mutants sim fuzz

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags mutants ./...
	$(GO) tool staticcheck ./...

# Unit, property and process tests, with the race detector.
unit:
	$(GO) test -race -timeout 20m ./...

# Every planted bug must be noticed; see docs/mutants.md.
mutants:
	$(GO) run ./internal/mutant/campaign $(MUTANTFLAGS)
	$(PLANT) test -timeout 10m -run 'Noticed|Killed' ./datagram ./cmd/failaware-lab
	$(PLANT) test -timeout 10m -run 'Mutant' ./sim/exhaust
	$(PLANT) test -timeout 10m -run 'Shrink|Regressions' ./sim

# Random worlds in both modes and both rankings, still topologies, broken clocks,
# and replicated state. Campaigns that are large enough must reach every situation.
sim: build
	@set -e; run() { bin/failaware-lab sim --quiet -o ndjson "$$@"; }; \
	for mode in available strict; do \
		for rank in stable id; do for roughness in 1 4; do \
			run --seeds $(SIMSEEDS) --mode $$mode --rank $$rank --roughness $$roughness; \
		done; done; \
		run --topologies 100 --nodes 6 --mode $$mode; \
		run --seeds 600 --mode $$mode --roughness 2 --require-coverage; \
	done; \
	run --seeds 400 --roughness 2 --broken-clocks --require-coverage; \
	run --seeds 50 --preset local --codec; \
	run --seeds $(SIMSEEDS) --broadcast --roughness 2; \
	run --seeds $(SIMSEEDS) --references --roughness 2; \
	for mode in available strict; do for rank in stable id; do \
		run --seeds $(SIMSEEDS) --quorum random --mode $$mode --rank $$rank --roughness 2; \
	done; done; \
	run --seeds 600 --quorum random --roughness 2 --require-coverage; \
	run --seeds 50 --quorum majority:1,2,3,4,5 --codec; \
	for mode in available strict; do for rank in stable id; do \
		run --seeds $(SIMSEEDS) --quorum random --epochs --mode $$mode --rank $$rank --roughness 2; \
	done; done; \
	run --seeds 600 --quorum random --epochs --roughness 2 --require-coverage; \
	run --seeds 100 --quorum random --epochs --nodes 7 --collate 2 --codec --roughness 2; \
	run --seeds 100 --broadcast --roughness 2 --collate 2; \
	for mode in available strict; do \
		run --seeds $(SIMSEEDS) --nodes 9 --collate 2 --mode $$mode --roughness 2; \
		run --topologies 100 --nodes 7 --collate 2 --mode $$mode; \
	done; \
	run --seeds 5 --nodes 32 --collate 3 --codec; \
	run --seeds 30 --seconds 200 --preset wan
	bin/failaware-lab sim clocks --seeds 2
	$(GO) test ./sim -count 1 -timeout 30m -run '^TestState' -state.seeds $(STATESEEDS)

# Random worlds for TIME in all (90s, 30m, 8h), in equal shares. Each campaign
# adds a section to REPORT; what breaks a promise is shrunk, and kept in a file.
# Seeds begin at FIRST, beyond those of `make sim`.
sim-long: build
	@case "$(TIME)" in *[!0-9hms]*|*[hms]?*|[hms]*|*[0-9]|"") echo "TIME: $(TIME) is not like 90s, 30m or 8h"; exit 2;; esac; \
	total=$$(echo $(TIME) | awk '/h$$/ {print $$1*3600} /m$$/ {print $$1*60} /s$$/ {print $$1+0}'); \
	share=$$(awk "BEGIN {print $${total:-0}/27}")s; failed=0; \
	printf '\n## %s: $(TIME)\n\n' "$$(date -u +%F)" >>$(REPORT); \
	run() { echo "sim $$*"; bin/failaware-lab sim -o ndjson --report $(REPORT) --time $$share "$$@" || failed=1; }; \
	for mode in available strict; do \
		for rank in stable id; do for roughness in 1 4; do \
			run --first-seed $(FIRST) --shrink --mode $$mode --rank $$rank --roughness $$roughness; \
		done; done; \
		run --first-seed $(FIRST) --shrink --mode $$mode --broken-clocks --roughness 2; \
		run --first-seed $(FIRST) --shrink --mode $$mode --preset local --seconds 10; \
		run --first-seed $(FIRST) --shrink --mode $$mode --preset wan --seconds 200; \
		run --first-seed $(FIRST) --shrink --mode $$mode --nodes 9 --rank id --roughness 2; \
		run --first-seed $(FIRST) --topologies 1000000000 --nodes 7 --mode $$mode; \
	done; \
	run --first-seed $(FIRST) --shrink --codec --roughness 2; \
	run --first-seed $(FIRST) --shrink --broadcast --roughness 2; \
	run --first-seed $(FIRST) --shrink --references --roughness 2; \
	run --first-seed $(FIRST) --shrink --quorum random --roughness 2; \
	run --first-seed $(FIRST) --shrink --quorum random --mode strict --rank id --roughness 4; \
	run --first-seed $(FIRST) --shrink --quorum random --epochs --roughness 2; \
	run --first-seed $(FIRST) --shrink --nodes 9 --collate 2 --roughness 2; \
	run --first-seed $(FIRST) --shrink --nodes 3 --rank id --roughness 4; \
	$(GO) test ./sim -count 1 -timeout 0 -v -run '^TestState' -state.first $(FIRST) \
		-state.time $$(awk "BEGIN {print $${share%s}/4}")s || failed=1; \
	exit $$failed

# Coverage-guided fuzzing of every decoder, for FUZZTIME each.
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
		for name in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "fuzz $$pkg $$name"; \
			GO="$(GO)" .ci/fuzz $$pkg $$name $(FUZZTIME); \
		done; \
	done

# Benchmarks over real UDP on this machine; see docs/benchmarks.md.
bench: build
	bin/failaware-lab bench election --nodes 2,4,8 --count 20000
	bin/failaware-lab bench failover --nodes 5 --count 50
	bin/failaware-lab bench split --nodes 8
	bin/failaware-lab bench clock --nodes 5
	bin/failaware-lab bench idle --nodes 8
	bin/failaware-lab bench broadcast --nodes 3,5
	bin/failaware-lab bench collation

build:
	@mkdir -p bin
	$(GO) build -o bin/ ./cmd/...

clean:
	rm -rf bin
