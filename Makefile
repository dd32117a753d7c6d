# Every target is a thin alias of a command of pipeline/cli.ts; `make` alone prints this help.
# Settings are environment or make variables (make serve PORT=9000); ARGS goes to the command (make build ARGS=--json).

.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

INSTALLED := node_modules/.installed
# Node 24 comes with npm install where its package has a build for the machine; elsewhere the machine's own serves.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
QUIET = --disable-warning=ExperimentalWarning
RUN = @node $(QUIET)
# cli.ts turns on the same cache, but Node has compiled that file by then.
PROGRAM = @NODE_COMPILE_CACHE=node_modules/.cache/compiled node $(QUIET)
CLI = $(PROGRAM) pipeline/cli.ts
# Smaller halves of V8's young heap: a build of many files takes less memory. Below 4, days take more time.
BUILD = $(PROGRAM) --max-semi-space-size=4 pipeline/cli.ts build
VITEST = $(RUN) node_modules/vitest/vitest.mjs run
test-clients: export NEWEST_CLIENTS = $(if $(filter --newest,$(ARGS)),1)
NEWEST = --reporter=default --reporter=./test/clients/newest-reporter.ts

##@ Use
.PHONY: init build archive withdraw export status serve key catalog store verify keygen derive reproduce inspect models disclosure rejects sample
init: $(INSTALLED) ## raw logs -> a configuration and a dry run of the first release (ARGS="logs/")
	$(CLI) init $(ARGS)
build: $(INSTALLED) ## sources -> a new release in public/ (none when nothing changed)
	$(BUILD) $(ARGS)
archive: $(INSTALLED) ## archive dates, so that their raw logs may be deleted (ARGS="--before 2025-03-01")
	$(CLI) archive $(ARGS)
withdraw: $(INSTALLED) ## withdraw a release (ARGS="RELEASE --reason 'why'")
	$(CLI) withdraw $(ARGS)
export: $(INSTALLED) ## a plain copy of public/ for a static host (ARGS="DIR [--no-symlinks]")
	$(CLI) export $(ARGS)
status: $(INSTALLED) ## what is published and how old, what the last build did, what the next one would read (exit 1 when stale)
	$(CLI) status $(ARGS)
serve: $(INSTALLED) ## serve the files and the API; builds first when there is no release yet
	$(CLI) serve $(ARGS)
key: $(INSTALLED) ## create an API key (ARGS="--management --name TEXT …")
	$(CLI) key $(ARGS)
catalog: $(INSTALLED) ## the embeddings catalogue (ARGS="import FILE", "export", "check FILE")
	$(CLI) catalog $(ARGS)
store: $(INSTALLED) ## keys and presets (ARGS="backup FILE", "restore FILE")
	$(CLI) store $(ARGS)
verify: $(INSTALLED) ## read the published files again and verify them (ARGS=URL: those of any host)
	$(CLI) verify $(ARGS)
keygen: $(INSTALLED) ## a key that signs what is published, and a recovery key (ARGS=FILE)
	$(CLI) keygen $(ARGS)
derive: $(INSTALLED) ## files of a release from its Parquet alone (ARGS="RELEASE-FOLDER --out DIR"), or from the history ("public --release NAME --out DIR")
	$(CLI) derive $(ARGS)
reproduce: $(INSTALLED) ## the current release again from its raw files, compared byte for byte (ARGS=RELEASE: another)
	$(CLI) reproduce $(ARGS)
inspect: $(INSTALLED) ## what is in raw files (ARGS="FILE…") or folders (ARGS=logs/) ("--sql FILE": the SQL that reads it)
	$(CLI) inspect $(ARGS)
models: $(INSTALLED) ## models that models.json does not know, with tokens (ARGS="--add public NAME…": write them there)
	$(CLI) models $(ARGS)
disclosure: $(INSTALLED) ## what a release would tell about single customers (ARGS="--min-contributors 3 --p-percent 15")
	$(CLI) disclosure $(ARGS)
rejects: $(INSTALLED) ## the records that the last build rejected (ARGS="--reason invalid_timestamp")
	$(CLI) rejects $(ARGS)
sample: $(INSTALLED) ## write synthetic raw usage logs to build from
	$(CLI) sample $(ARGS)

##@ Develop
.PHONY: test golden test-system test-clients soak mutants bench check docs sbom format screenshots clean help
test: $(INSTALLED) ## unit and integration tests (npm alone)
	$(VITEST) --project unit --project mocked $(ARGS)
golden: $(INSTALLED) ## published trees and HTTP exchanges against the committed ones (ARGS=-u: record them anew)
	$(VITEST) --project mocked test/golden test/cases.test.ts $(ARGS)
test-system: $(INSTALLED) ## tests of the whole program as a user runs it
	$(VITEST) --project system $(ARGS)
test-clients: $(INSTALLED) ## the same with programs of others in full: PyPI's readers and SDK, generated clients, S3, browsers × themes, load (ARGS=--newest: newest versions)
	$(VITEST) --project clients $(if $(filter --newest,$(ARGS)),$(NEWEST)) $(filter-out --newest,$(ARGS))
soak: $(INSTALLED) ## try to break what docs/evidence/reliability.md promises, for an hour (ARGS="store --share 0.1 --seed 1")
	$(RUN) test/soak/soak.ts $(ARGS)
mutants: $(INSTALLED) ## put small faults into a copy of the project and list those that no test finds (ARGS="store/*")
	$(RUN) test/mutants/run.ts $(ARGS)
bench: $(INSTALLED) ## measure against bare DuckDB, bare Node and others (ARGS="server --rounds 5")
	$(RUN) test/bench/bench.ts $(ARGS)
check: $(INSTALLED) ## types, lint, format, the OpenAPI document, licences and known vulnerabilities of the dependencies
	$(RUN) node_modules/typescript/bin/tsc
	$(RUN) node_modules/typescript/bin/tsc -p pipeline/site/browser
	@biome check --error-on-warnings .
	$(RUN) test/openapi-lint.ts
	$(RUN) test/licences.ts
	$(RUN) test/audit.ts
docs: $(INSTALLED) ## write docs/reference.md and the limits from the code
	$(RUN) test/reference.ts
sbom: $(INSTALLED) ## what the project is made of, as CycloneDX: make sbom > tokenboard.cdx.json
	$(RUN) test/sbom.ts
format: $(INSTALLED) ## mend format and order of imports
	@biome check --write .
screenshots: $(INSTALLED) ## take the pictures of the README from the sample (needs chromium)
	$(RUN) test/screenshots.ts
clean: ## remove what can be rebuilt: installed packages, state, sample
	@rm -rf node_modules "$${DATA_DIR:-data}/state" "$${DATA_DIR:-data}/raw/sample"

help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@printf '\nSettings: SOURCES DATA_DIR PUBLIC_DIR AS_OF MEMORY_LIMIT ENGINE CLICKHOUSE_USER CLICKHOUSE_PASSWORD_FILE SIGNING_KEY_FILE SIGNATURE_DAYS HOST PORT DATABASE_URL LOG_LEVEL TRUST_PROXY\n          BOOTSTRAP_KEY RATE_LIMIT_PER_MINUTE RATE_LIMIT_PER_DAY RATE_LIMIT_BAD_KEYS_PER_MINUTE METRICS_TOKEN; see docs/reference.md.\n'

# Installing is quiet, and what it does say goes to stderr: the stdout of a target belongs to its command.
# Node's own package brings 67 MB of headers that nothing here compiles with.
$(INSTALLED): package.json package-lock.json
	@echo 'installing packages …' >&2
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
	@node -e 'if (+process.versions.node.split(".")[0] < 24) { console.error(`Tokenboard needs Node 24 or newer, and npm brought none for this machine; found $${process.version}.`); process.exit(1) }'
	@rm -rf node_modules/node-*/include
	@touch $@
