# A thin front to meson: `make demo` and `make check` do everything on a fresh Debian 12.
BUILD ?= build
ASSAY = $(BUILD)/cli/assay

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

# Installs what is missing (apt, through sudo when not root); without network and with all there it does nothing.
setup:
	@tools/setup.sh build

$(BUILD)/build.ninja:
	@tools/setup.sh build
	meson setup $(BUILD)

demo: setup all
	@tools/demo.sh $(BUILD)

# All tests of all builds: unit, property, end to end, peers; ASan+UBSan; TSan; clang; s390x.
check:
	@tools/setup.sh check
	@tools/check.sh

# The short form for work in between: the plain build's tests only.
test: all
	meson test -C $(BUILD) --print-errorlogs

bench: setup
	@tools/setup.sh check
	@bench/run.sh

fuzz:
	@tools/setup.sh check
	@tests/fuzz/run.sh

install: all
	meson install -C $(BUILD)

format:
	git ls-files '*.[ch]' | xargs clang-format -i

clean:
	rm -rf build build-*

.PHONY: all setup demo check test bench fuzz install format clean
