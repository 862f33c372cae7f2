# Everything here works on a fresh clone with the Rust toolchain alone.

CARGO ?= cargo
DEMO  := target/demo

.PHONY: demo test bench install

# Materializes the fixture corpus twice: from its sources, then from the cache alone.
demo:
	$(CARGO) build --release --locked
	rm -rf $(DEMO)
	mkdir -p $(DEMO)
	@echo; echo "== first run: every distinct payload is read from its source once"
	target/release/onepull materialize fixtures/corpus/jsonl -o $(DEMO)/shards --cache $(DEMO)/cache
	@echo; echo "== second run, shards written again: no source is read"
	target/release/onepull materialize fixtures/corpus/jsonl -o $(DEMO)/shards --cache $(DEMO)/cache --overwrite
	@echo; echo "The shards are in $(DEMO)/shards:"; find $(DEMO)/shards -name '.onepull' -prune -o -type f -print | sort

test:
	@$(CARGO) fmt --version >/dev/null 2>&1 || { \
	  echo "cargo fmt is missing: run 'rustup component add rustfmt'" >&2; exit 1; }
	@$(CARGO) clippy --version >/dev/null 2>&1 || { \
	  echo "cargo clippy is missing: run 'rustup component add clippy'" >&2; exit 1; }
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --all-targets -- -D warnings
	$(CARGO) test --locked
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps

bench:
	$(CARGO) bench --locked --bench materialize --bench analyze

install:
	$(CARGO) install --locked --path .
