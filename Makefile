# The two commands of the README are `make demo` and `make test`. Both need Go
# (the version in go.mod) and nothing else; modules are fetched by Go itself.
# docs/internals/testing.md says what each step of `make check` and `make test` catches.

GO ?= go
FUZZTIME ?= 5s
MUTANTFLAGS ?=
PLAINFLAGS ?=
PLANT = $(GO) run ./internal/mutant/plant
TIME ?= 1h
FIRST ?= 1000000
REPORT ?= docs/sim-report.md
SEED ?= 1
MINUTES ?= 3
comma = ,

# The packages whose tests run one goroutine, or independent worlds side by side. They
# are tested without the race detector, which would take minutes and find nothing. All
# other packages are tested with it. A test of internal/shape guards the list.
PLAIN = ./sim ./sim/lab ./sim/exhaust ./sim/diagram ./sim/internal/hardware \
	./internal/campaign ./internal/campaign/replicated ./internal/clocktrial \
	./timed ./datagram ./leader ./leader/edict ./leader/epoch ./leader/quorum \
	./membership ./clocksync ./broadcast ./internal/wire ./internal/stack ./internal/admit ./internal/introduce \
	./internal/life ./internal/replica ./internal/keep ./internal/kv ./internal/session ./internal/random ./internal/enum ./internal/fields ./internal/durable ./internal/claim \
	./internal/svg ./internal/figure ./internal/cli \
	./internal/shape ./internal/thirdparty ./internal/systems ./internal/mutant ./internal/mutant/planted

# The packages whose tests repeat less with the race detector (internal/race), which makes
# nodes in virtual time twenty times as slow. They are tested in full without it, too. A
# test of internal/shape guards this list as well.
TWICE = . ./replicate ./replicate/internal/engine ./internal/loop ./internal/journal ./internal/browsertest ./sim/memory ./cmd/failaware-lab

# The packages whose tests take longest begin first, and three packages run at once, since
# many tests wait: no processor idles on the way or at the end.
LONGEST = ./replicate ./cmd/failaware ./cmd/failaware-lab .
LONGEST_PLAIN = ./replicate ./sim ./sim/lab . ./internal/journal ./cmd/failaware-lab ./internal/mutant/planted ./sim/exhaust ./examples/fenced
AT_ONCE = -p 3

.PHONY: all demo check test lint unit short plain race mutants planted noticed sweep gremlins fuzz sim sim-check sim-long behaviour chaos bench bench-compare peers build site release clean


all: build

# A group of five nodes over loopback, live in the terminal; `q` ends it.
demo:
	$(GO) run ./cmd/failaware demo

# For daily work.
check:
	@.ci/steps \
		"lint: format, vet and static analysis: 30 s" \
		"short: short tests: 2 min" \
		"sim-check: small simulated campaigns: 10 s"

# Everything that must hold before a change lands. The campaigns only compute, so they run
# at the lowest priority beside tests that wait; continuous integration runs them itself.
BESIDE_RACE ?= sim
test:
	@.ci/steps \
		"lint: format, vet and static analysis: 2 min" \
		"plain: tests of pure code and of the simulator: 3 min" \
		"race $(BESIDE_RACE): tests of code with goroutines$(if $(BESIDE_RACE),$(comma) simulated campaigns): 8 min" \
		"mutants: planted bugs: 4 min" \
		"fuzz: fuzzing of every decoder: 2 min"

# With the tags, vet sees all files but those that have none of planted bugs.
lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go' 2>/dev/null || find . -name '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt: $$unformatted"; exit 1; fi
	$(GO) vet -tags mutants,manual ./...
	$(GO) vet ./internal/mutant
	$(GO) tool staticcheck ./...

# Unit, property and process tests: all of them, or without those that take longest. They
# are not vetted again, since lint vets all that go test would.
unit: plain race

short:
	$(GO) test -vet=off -short ./...

plain:
	$(GO) test -vet=off $(AT_ONCE) -timeout 20m $(PLAINFLAGS) $(LONGEST_PLAIN) $(PLAIN) $(TWICE)

# Otherwise each process sleeps for a second at its end. An example imports no internal
# package, but takes a number.
race: export GORACE ?= atexit_sleep_ms=20
race: export STALE_TRIES ?= 100
race:
	@plain=$$($(GO) list $(PLAIN)) && $(GO) list ./... | grep -vxF "$$plain" | xargs $(GO) test -vet=off $(AT_ONCE) -race -timeout 20m $(LONGEST)

# Every planted bug must be noticed; see docs/mutants.md. The tests that notice bugs of whole
# nodes and searches wait a lot, so they run beside the others. What both compile is
# compiled once before.
mutants:
	$(PLANT) build . ./sim/... ./replicate/... ./internal/campaign/... ./internal/chaos/... ./internal/bench/... ./internal/clocktrial ./internal/cli/...
	@$(MAKE) --no-print-directory -j2 planted noticed

planted:
	$(GO) run ./internal/mutant/campaign $(MUTANTFLAGS)

noticed:
	$(PLANT) test -vet=off -timeout 10m -run 'Noticed|Killed' ./datagram ./cmd/failaware-lab
	$(PLANT) test -vet=off -timeout 10m -run 'Mutant' ./sim/exhaust
	$(PLANT) test -vet=off -timeout 10m -run 'Shrink|Regressions' ./sim

# Thousands of small changes of the code, one at a time: which does no test notice? See
# docs/internals/mutation.md. SWEEP has flags and packages.
SWEEP ?= -sample 60 ./timed ./leader/... ./membership ./datagram ./clocksync ./broadcast ./internal/life ./internal/stack \
	./internal/wire ./internal/seal ./internal/admit ./internal/introduce ./internal/journal ./internal/replica ./internal/loop/...
sweep:
	nice -n 10 $(GO) run ./internal/mutant/sweep $(SWEEP)

# The same question to a mutation tool of others, which is slower: one package at a time.
PKG ?= ./internal/life
gremlins:
	nice -n 10 $(GO) run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0 unleash $(PKG) --workers 1

# What nodes do in the campaigns of sets check and test, as figures and hashes. `make
# behaviour` writes the files after a change that is meant to change it.
BEHAVIOUR = internal/campaign/behaviour
behaviour: build
	bin/failaware-lab campaign run --set check --quiet --behaviour $(BEHAVIOUR)/check.txt --update
	bin/failaware-lab campaign run --set test --quiet --behaviour $(BEHAVIOUR)/test.txt --update

# The campaigns of set check: a few seeds of each.
sim-check: build
	bin/failaware-lab campaign run --set check --quiet --behaviour $(BEHAVIOUR)/check.txt

# The campaigns of set test: random worlds with and without a broadcast, quorum
# systems, epochs, replicated state and more. They must reach every situation that
# the table demands: `bin/failaware-lab campaign list`.
sim: build
	nice -n 19 bin/failaware-lab campaign run --set test --behaviour $(BEHAVIOUR)/test.txt
	nice -n 19 bin/failaware-lab sim clocks --seeds 2

# Random worlds for TIME in all (90s, 30m, 8h). Each campaign adds a section to
# REPORT. A case that breaks a promise is shrunk and kept in a file. Seeds begin at
# FIRST, beyond those of `make sim`.
sim-long: build
	bin/failaware-lab campaign run --set long --time $(TIME) --first-seed $(FIRST) --shrink --report $(REPORT)

# Real nodes in network namespaces, through faults, judged from outside: docs/internals/chaos.md.
# It needs root, and the programs ip and nft.
chaos: build
	bin/failaware-lab chaos --seed $(SEED) --minutes $(MINUTES)

# Coverage-guided fuzzing of every decoder, for FUZZTIME each.
fuzz:
	@GO="$(GO)" .ci/fuzz $(FUZZTIME)

# Benchmarks over real UDP on this machine; see docs/reference/benchmarks.md.
bench: build
	bin/failaware-lab bench election --nodes 2,4,8 --count 20000
	bin/failaware-lab bench failover --nodes 5 --count 50
	bin/failaware-lab bench split --nodes 8
	bin/failaware-lab bench clock --nodes 5
	bin/failaware-lab bench idle --nodes 8
	bin/failaware-lab bench broadcast --nodes 3,5
	bin/failaware-lab bench collation

# Other systems on the same work in the same run; see docs/reference/benchmarks.md. It takes
# a quarter of an hour, with PEERS=--quick 4 minutes.
PEERS ?=
peers: build
	$(GO) -C bench/peers build -o ../../bin/peers .
	PATH="$(CURDIR)/bin:$$PATH" bin/peers --out bin/peers.json --svg bin/peers.svg $(PEERS)

# The working tree against an old commit, in turns, on short benchmarks: it fails if one is
# 15 % worse three times. OLD is where the branch left main unless it is named. It takes 4
# minutes, and 12 if there is a suspicion.
OLD ?=
ROUNDS ?= 6
bench-compare:
	@mkdir -p bin
	$(GO) -C bench/compare build -o ../../bin/compare .
	bin/compare -old "$(OLD)" -rounds $(ROUNDS)

build:
	@mkdir -p bin
	$(GO) build -o bin/ ./cmd/...

# The documents as a site with a search, in bin/site. It needs npm.
site:
	npm --prefix site ci --no-audit --no-fund
	npm --prefix site run -s build

# What users download, for all systems, in bin/release; see docs/start/install.md.
release:
	rm -rf bin/release
	$(GO) -C packaging run ./release $(if $(VERSION),-version $(VERSION))

clean:
	rm -rf bin
