# Everything a contributor runs. `make` alone lists the targets.

GO    ?= go
LINT   = $(GO) tool -modfile=tools/lint/go.mod golangci-lint
CHECK  = $(GO) tool -modfile=tools/check/go.mod

# The race detector needs cgo, and cgo needs a C compiler.
CC_FOUND = $(shell command -v $(firstword $(shell $(GO) env CC)) 2>/dev/null)
CGO_ON   = $(filter 1,$(shell $(GO) env CGO_ENABLED))
RACE     = $(and $(CC_FOUND),$(CGO_ON),-race)

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Audit a small fleet on a broker of its own
	$(GO) run ./cmd/natsmig demo

.PHONY: build
build: ## Compile every package
	$(GO) build ./...

.PHONY: test
test: ## Run the tests, with the race detector where cgo compiles
	@$(if $(RACE),:,echo "no race detector: it needs CGO_ENABLED=1 and a C compiler")
	$(GO) test $(RACE) ./...

# The newest server of each line that the model knows.
LINES   = 2.9.25 2.10.27 2.11.17 2.12.15 2.14.10 2.15.3
BROKERS = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/natsmig/brokers
# Patch releases before what changed within a line.
OLDER   = 2.10.22 2.12.4 2.12.8 2.14.0 2.14.4 2.15.0
PAIRS   = 2000
SEED    = $(shell date +%s)

.PHONY: matrix
matrix: $(LINES:%=$(BROKERS)/nats-server-%) ## Compare the model with real brokers of every line: PAIRS=2000 SEED=…
	NATSMIG_BROKERS=$(BROKERS) NATSMIG_PAIRS=$(PAIRS) NATSMIG_SEED=$(SEED) \
		$(GO) test -count=1 -timeout 60m -v -run AgainstBrokers ./audit/broker

RECORD = NATSMIG_PAIRS=$(PAIRS) NATSMIG_SEED=$(SEED) NATSMIG_RECORD=testdata/recorded $(GO) test -count=1 -timeout 60m

.PHONY: record
record: $(LINES:%=$(BROKERS)/nats-server-%) $(OLDER:%=$(BROKERS)/older/nats-server-%) ## Record pairs of every line anew, for make test to replay
	rm -rf audit/broker/testdata/recorded
	NATSMIG_BROKERS=$(BROKERS) $(RECORD) -run AgainstBrokers ./audit/broker
	NATSMIG_BROKERS=$(BROKERS)/older $(RECORD) -run AgainstBrokers/standalone ./audit/broker

define install-server =
	@mkdir -p $(@D)/build-$*
	GOBIN=$(@D)/build-$* GOFLAGS=-mod=mod $(GO) install github.com/nats-io/nats-server/v2@v$*
	mv $(@D)/build-$*/nats-server $@
	rmdir $(@D)/build-$*
endef

$(BROKERS)/nats-server-%:
	$(install-server)

$(BROKERS)/older/nats-server-%:
	$(install-server)

.PHONY: faults
faults: ## Put the runner through every fault at length: RUNS=5
	NATSMIG_SOAK=1 $(GO) test -count=$(RUNS) -timeout 60m -v -run 'Faults|Server|Leader|Quorum|Killed|Drain|Stall|Capture|Sweep|JetStreamOff' ./jsconsumer

RUNS = 5

.PHONY: bench
bench: ## Measure beside the peers; docs/benchmarks.md tells the figures
	cd tools/bench && $(GO) test -run '^$$' -bench . -benchtime 21x .
	cd tools/bench && $(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m ./delivery

.PHONY: golden
golden: ## Rewrite expected outputs; read the diff before you commit it
	UPDATE=1 $(GO) test -count=1 ./...

.PHONY: lint
lint: ## Run every static check
	$(GO) mod tidy -diff
	$(LINT) run ./...
	cd tools/bench && $(GO) vet ./... # a module of its own, which the tests do not compile

.PHONY: deadcode
deadcode: ## List functions that nothing reaches
	$(CHECK) deadcode -test ./...

.PHONY: fmt
fmt: ## Format the sources
	$(LINT) fmt ./...

.PHONY: check
check: lint test ## Everything CI runs
