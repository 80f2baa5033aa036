.PHONY: help lines test test-all fuzz test-damages test-browser test-digits test-python mutants lint bench bench-peers tables verdicts gallery gallery-full test-slurm test-kubernetes build release notice test-arm64 vulnerabilities

BROWSER ?= $(firstword $(foreach b,chromium chromium-browser google-chrome-stable google-chrome,$(shell command -v $(b))))
CONTROLPLANE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gpc-tune/controlplane-1.34.4
DIGITS ?= $(CURDIR)/../shared/data

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

build: ## the program, linked statically
	CGO_ENABLED=0 go build -o gpc-tune ./cmd/gpc-tune

release: test-all ## archives of the program and wheels for Python, for six systems, with checksums, in dist, after all tests; the same bytes for the same commit (ARGS="-help" for more)
	go run ./tools/release $(ARGS)

notice: ## write NOTICE, the licences of what is linked into the program, anew
	go test -count 1 -run TestNotice ./cmd/gpc-tune -args -write-notice

test: ## run all tests
	go test ./...

PACKAGES ?= ./...

test-all: ## all tests with all cases of the large ones, of which make test tries a part (PACKAGES="./approx ./search"), minutes
	GPC_TUNE_TEST_ALL=1 go test -tags parquet -timeout 1h $(PACKAGES)

PYTHON ?= python3

test-python: ## the package for Python, with numpy, scikit-learn, pandas and pytest of the system (PYTHON=program, ARGS="-k name")
	@bin=$$(mktemp -d) && trap 'rm -r "$$bin"' EXIT && CGO_ENABLED=0 go build -o "$$bin/gpc-tune" ./cmd/gpc-tune && \
		GPC_TUNE_PROGRAM="$$bin/gpc-tune" PYTHONPATH=clients/python PYTHONDONTWRITEBYTECODE=1 \
		$(PYTHON) -m pytest -q -p no:cacheprovider clients/python/tests $(ARGS)

lines: ## lines of Go: the product, tools, conformance kits with what tests share, and tests
	@git ls-files -z '*.go' | xargs -0 wc -l | awk '$$2 == "total" {next} \
		{part = "product"} $$2 ~ /^(tools|docs)\/|\/testdata\// {part = "tools"} $$2 ~ /(test|testing\/[a-z]*)\/[^\/]*$$/ {part = "kits"} \
		$$2 ~ /_test\.go$$/ {part = "tests"} {n[part] += $$1; all += $$1} \
		END {for (part in n) print part "\t" n[part]; print "total\t" all}' | sort

FUZZ ?= 20s

fuzz: SHELL := bash -o pipefail
fuzz: ## fuzz every parser (FUZZ=time for each), minutes
	@for f in $$(grep -rho '^func Fuzz[A-Za-z]*' --include=*_test.go . | sed 's/func //' | sort -u); do \
		for d in $$(grep -rl "^func $$f(" --include=*_test.go . | xargs -n1 dirname); do \
			echo "$$d $$f"; go test $$d -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZ) -fuzzminimizetime 10x | tail -n 3 || exit 1; done; done

DAMAGES ?= 10000

test-damages: ## single-byte damages of every file that a run reads back, mended or refused (DAMAGES=number), minutes
	GPC_TUNE_DAMAGES=$(DAMAGES) go test -v -count 1 -timeout 1h -run DamagedByte ./experiments/...

AXE_VERSION = 4.10.3
AXE_SHA512 = 5e6edba515e70d25f6604d9815f064d859c5d1ea7ab661bbc4f87c88779ef0c21cae0abbeb636471ef39e9d62d2582e4b88a1866f19f4ecfcf6d986275e4dc12
AXE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gpc-tune/axe-core-$(AXE_VERSION).min.js

LOAD ?= 1500ms

test-browser: ## the pages in headless Chromium: layout, accessibility, size, time to load (BROWSER=program; LOAD=0: however long, on a busy machine; ARGS="-screenshots FOLDER" for pictures)
	@$(MAKE) --no-print-directory $(AXE) || echo "axe-core cannot be fetched from the npm registry: accessibility is not tested" >&2
	go test -v -count 1 -run InBrowser ./reports/page -args -browser "$(BROWSER)" $$(test ! -f $(AXE) || echo -axe $(AXE)) -load $(LOAD) -size 1000000 $(ARGS)
	go test -v -count 1 -run InBrowser ./experiments/live -args -browser "$(BROWSER)" $$(test ! -f $(AXE) || echo -axe $(AXE)) $(filter-out %.html,$(ARGS))

$(AXE):
	mkdir -p $(@D)
	cd $(@D) && npm pack --silent axe-core@$(AXE_VERSION)
	cd $(@D) && echo "$(AXE_SHA512)  axe-core-$(AXE_VERSION).tgz" | sha512sum --check --quiet || { rm -f axe-core-$(AXE_VERSION).tgz; exit 1; }
	cd $(@D) && tar xOf axe-core-$(AXE_VERSION).tgz package/axe.min.js > $(@F).part && mv $(@F).part $(@F) && rm axe-core-$(AXE_VERSION).tgz

test-digits: ## Bayesian optimisation beside random search on the USPS digits (DIGITS=folder), minutes
	go test -v -timeout 1h -run DigitsEvidences ./experiments -args -digits $(DIGITS)

mutants: ## change the code in small ways, other ones each time, and count those that a test notices; writes docs/mutants.md (ARGS="-help" for more)
	go run ./tools/mutants -o docs/mutants.md $(ARGS)

test-slurm: ## submit to a Slurm of this machine, as root, with the packages slurm-wlm and munge
	go test -v -count 1 -run 'TestSlurm' ./cmd/gpc-tune

test-kubernetes: ## submit to a Kubernetes of this machine, with etcd-server and kubernetes-client; builds its control plane once (CONTROLPLANE=program), minutes
	@$(MAKE) --no-print-directory $(CONTROLPLANE) || echo "the control plane cannot be built here: the test is skipped"
	go test -v -count 1 -timeout 30m -run 'TestKubernetes' ./cmd/gpc-tune -args -controlplane $(abspath $(CONTROLPLANE))

$(CONTROLPLANE): $(addprefix cmd/gpc-tune/testdata/kubernetes/controlplane/,go.mod go.sum main.go)
	mkdir -p $(@D)
	cd $(<D) && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o $(abspath $@) .

QEMU ?= qemu-aarch64-static

test-arm64: ## the numbers on another processor, emulated (package qemu-user-static, QEMU=program), minutes
	GOARCH=arm64 CGO_ENABLED=0 go test -count 1 -timeout 1h -exec "$(QEMU)" ./internal/linalg ./approx

VULNCHECK ?= 1.1.4

vulnerabilities: ## known vulnerabilities of what the program uses (govulncheck; needs the network)
	go run golang.org/x/vuln/cmd/govulncheck@v$(VULNCHECK) ./cmd/gpc-tune

lint: ## gofmt, go vet, staticcheck, cognitive complexity
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go tool gocognit -over 30 -ignore "_test|testdata" .

bench: ## time the hot paths (compare two runs with benchstat)
	go test -run '^$$' -bench . -benchmem ./internal/linalg ./objective/... ./approx/... ./search/...

bench-peers: ## measure beside scikit-learn, GPBoost, kernlab and numpy; writes docs/performance.md (ARGS="-help" for more)
	go run ./tools/bench $(ARGS)

tables: ## make fifty tables, twice, run the study that init writes of each, and scikit-learn beside it; writes a section of docs/evidence.md (ARGS="-help" for more), half an hour
	go run ./tools/tables $(ARGS)

verdicts: ## simulate how often the statements on the best configuration are wrong; writes a section of docs/evidence.md (ARGS="-help" for more), minutes
	go run ./tools/verdicts $(ARGS)

gallery: ## run the published experiments, write docs/gallery.md and docs/gallery, end with the counts of the ledger (DIGITS=folder of the digits, ARGS="-help" for more), up to an hour; NAME="one two": only these, to runs/page.md
	go run ./tools/gallery -digits $(DIGITS) $(if $(NAME),-o runs/page.md) $(ARGS) $(NAME)

gallery-full: ## the same with the longest in place of the others, which keep their pages and rows: one takes most of an hour, one many; runs/gallery keeps what is done
	go run ./tools/gallery -digits $(DIGITS) -full -runs runs/gallery $(ARGS)
