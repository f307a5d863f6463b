GOFUMPT     := go run mvdan.cc/gofumpt@v0.12.0
STATICCHECK := go run honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORLD       ?= virtual
# Where the tests leave what came of their runs, for make report and make gate.
RESULTS      = $(CURDIR)/out/results
# What links Velero is built with a seeded Go runtime, like the worlds (sim/world/executable/seeded); lint too, to compile once.
OVERLAY      = -overlay=$$($(CURDIR)/bin/velosim setup --overlay)

# The tests of real processes take what they need from the cache.
ENVTEST      = VELOSIM_ENVTEST=1 KUBEBUILDER_ASSETS=$$(bin/velosim setup --assets) go test -count=1

.DEFAULT_GOAL := help
.PHONY: help build sim plugin test test-full report gate soak cover-velero lint bench dist fmt clean

help: ## Show this help
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16
	@echo
	@echo 'make sim SCENARIO=name [WORLD=virtual|envtest] [SEED=n] [ARGS="-v"]'

build: ## Build bin/velosim
	@go build -trimpath -ldflags "-X main.version=$(or $(VERSION),$(shell git describe --tags --always --dirty 2>/dev/null))" -o bin/velosim ./cmd/velosim

sim: build ## Run a scenario: make sim SCENARIO=backup-operation-times-out
	@bin/velosim run --world $(WORLD) $(if $(SEED),--seed $(SEED)) $(ARGS) -- $(or $(SCENARIO),$(error say which: make sim SCENARIO=backup-operation-times-out; bin/velosim list shows them all))

plugin: build ## Find out whether a plugin executable keeps Velero's contract: make plugin PLUGIN=./my-plugin [ARGS="--items items.yaml"]
	@bin/velosim plugin test $(ARGS) -- $(or $(PLUGIN),$(error say which: make plugin PLUGIN=./my-plugin))

# The second module's packages link all of Velero: vetting it is left to lint.
test: build ## Run every test, the whole catalogue in virtual time, and a part of it on the real server
	bin/velosim setup
	VELOSIM_BROWSER=$$(.ci/browser) go test -timeout 30m ./...
	cd sim/velero && go test -vet=off $(OVERLAY) -timeout 30m ./...
	rm -rf $(RESULTS)/virtual && bin/velosim run --seeds 3 --out $(RESULTS)/virtual
	bin/velosim setup --world envtest
	VELOSIM_RESULTS=$(RESULTS)/envtest-1.18.3 $(ENVTEST) -timeout 30m ./envtest/... ./examples/...

test-full: build ## The same, longer: 50 seeds of the catalogue, 1,000 runs in one process, the race detector, both releases on the real server
	go test -race $$(go list ./... | grep -v /property)
	go test -race -short ./property
	cd sim/velero && go test -race ./apiserver ./sched
	cd sim/velero && VELOSIM_SEEDS=8 VELOSIM_RUNS=1000 go test -vet=off $(OVERLAY) -timeout 60m -v -run 'Catalogue|Leave|Same' ./virtual
	bin/velosim run --seeds 50 -q
	bin/velosim setup --world envtest --velero 1.14.0
	VELOSIM_RESULTS=$(RESULTS)/envtest-1.18.3 $(ENVTEST) -timeout 60m ./envtest -run Envtest -v -ginkgo.label-filter='backup || restore'
	VELOSIM_RESULTS=$(RESULTS)/envtest-1.14.0 VELOSIM_VELERO=1.14.0 $(ENVTEST) -timeout 60m ./envtest -run Envtest -v -ginkgo.label-filter='backup || restore'

report: build ## Report what the tests' runs have shown: out/report.html, and as JUnit XML, JSON and Markdown
	@bin/velosim report $(RESULTS) $(if $(wildcard out/velero-coverage.json),--code out/velero-coverage.json) \
		--html out/report.html --junit out/report.xml --json out/report.json --markdown out/report.md
	@echo && echo out/report.html

gate: build ## Judge the catalogue's runs in virtual time by reports/baseline.yaml, after make test, or run it: make gate [ARGS=--update]
	@test -d $(RESULTS)/virtual || bin/velosim run --seeds 3 -q --out $(RESULTS)/virtual
	@bin/velosim gate --baseline reports/baseline.yaml $(ARGS) $(RESULTS)/virtual

soak: build ## Run random scenarios in virtual time, and shrink what is found: make soak N=20000 [SEED=1]
	@bin/velosim setup
	@go test -count=1 -timeout 0 ./property -run '^TestVirtual$$' -v -args -runs $(or $(N),2000) -first $(or $(SEED),1)

cover-velero: build ## Show how much of Velero's phase controllers the catalogue reaches: make cover-velero [SEEDS=8] [MISSED=1]
	@cd sim/velero && go run ./cmd/velosim-cover -json $(CURDIR)/out/velero-coverage.json $(if $(SEEDS),-seeds $(SEEDS)) $(if $(MISSED),-missed)

lint: build ## Check formatting, go.mod files and code
	@files=$$($(GOFUMPT) -l .) && test -z "$$files" || { echo "not formatted (make fmt): $$files"; exit 1; }
	@go mod tidy -diff && go vet ./... && $(STATICCHECK) ./...
	@cd sim/velero && export GOFLAGS="$$GOFLAGS $(OVERLAY)" && go mod tidy -diff && go vet ./... && $(STATICCHECK) ./...

bench: build ## Run every benchmark
	go test -run '^$$' -bench . -benchmem ./...
	cd sim/velero && go test -vet=off $(OVERLAY) -run '^$$' -bench . -benchmem ./...

dist: build ## Build the archives of a release into dist/: make dist [VERSION=v1.0.0] [PLATFORMS="linux/amd64 linux/arm64 darwin/arm64"]
	@VERSION="$(VERSION)" PLATFORMS="$(PLATFORMS)" .ci/dist

fmt: ## Format the code
	@$(GOFUMPT) -w .

clean: ## Remove what was built here (worlds stay in the user's cache)
	@rm -rf bin out dist
