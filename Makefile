# The two commands of the README are `make demo` and `make test`. Both need Go
# (the version in go.mod) and nothing else; modules are fetched by Go itself.

GO ?= go
FUZZTIME ?= 5s
MUTANTFLAGS ?=
PLANT = $(GO) run ./internal/mutant/plant
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

# The campaigns of set test: random worlds with and without a broadcast, quorum
# systems, epochs, replicated state and more. They must reach every situation that
# the table demands: `bin/failaware-lab campaign list`.
sim: build
	bin/failaware-lab campaign run --set test
	bin/failaware-lab sim clocks --seeds 2

# Random worlds for TIME in all (90s, 30m, 8h). Each campaign adds a section to
# REPORT. A case that breaks a promise is shrunk and kept in a file. Seeds begin at
# FIRST, beyond those of `make sim`.
sim-long: build
	bin/failaware-lab campaign run --set long --time $(TIME) --first-seed $(FIRST) --shrink --report $(REPORT)

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
