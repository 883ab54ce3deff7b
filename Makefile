# The two commands of the README are `make demo` and `make test`. Both need Go
# (the version in go.mod) and nothing else; modules are fetched by Go itself.

GO ?= go
FUZZTIME ?= 5s
MUTANTFLAGS ?=
SIMSEEDS ?= 200

.PHONY: all demo test lint unit mutants fuzz sim bench build clean

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

# Every rule's planted opposite must be noticed; see docs/mutants.md.
mutants:
	$(GO) run -tags mutants ./internal/mutant/campaign $(MUTANTFLAGS)
	$(GO) test -tags mutants -timeout 10m -run 'Noticed|ReportsKilled' ./datagram ./cmd/failaware
	$(GO) test -tags mutants -timeout 10m ./internal/mutant/...

# Random worlds in both modes and both rankings, and still topologies.
sim:
	@set -e; mkdir -p bin; $(GO) build -o bin/failaware ./cmd/failaware; \
	for mode in available strict; do for rank in stable id; do \
		bin/failaware sim --quiet --seeds $(SIMSEEDS) --seconds 20 --nodes 5 --mode $$mode --rank $$rank; \
		bin/failaware sim --quiet --seeds $(SIMSEEDS) --seconds 20 --nodes 5 --mode $$mode --rank $$rank --roughness 4; \
	done; \
	bin/failaware sim --quiet --topologies 100 --nodes 6 --mode $$mode; done; \
	bin/failaware sim --quiet --seeds 50 --seconds 20 --preset local --codec; \
	bin/failaware sim --quiet --seeds $(SIMSEEDS) --seconds 20 --broadcast --roughness 2; \
	bin/failaware sim --quiet --seeds 30 --seconds 200 --preset wan

# Coverage-guided fuzzing of every decoder, for FUZZTIME each.
fuzz:
	@set -e; for pkg in $$($(GO) list ./...); do \
		for name in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "fuzz $$pkg $$name"; \
			$(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

# Benchmarks over real UDP on this machine; see docs/benchmarks.md.
bench: build
	bin/failaware bench election --nodes 2,4,8 --count 20000
	bin/failaware bench failover --nodes 5 --count 50
	bin/failaware bench split --nodes 8
	bin/failaware bench clock --nodes 5
	bin/failaware bench idle --nodes 8

build:
	@mkdir -p bin
	$(GO) build -o bin/failaware ./cmd/failaware

clean:
	rm -rf bin
