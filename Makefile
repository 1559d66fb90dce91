# SPDX-License-Identifier: Apache-2.0
.PHONY: setup build demo test check bench format lint
SOURCES = $(shell git ls-files '*.c' '*.h' '*.cpp' '*.cu' '*.cuh')

setup:
	@scripts/setup
build: setup
	cmake --preset release -Wno-dev >/dev/null && cmake --build --preset release
# In the folder that `make test` goes on with.
demo: setup
	cmake --preset dev -Wno-dev >/dev/null && cmake --build --preset dev --target epilogue-cli kernels
	build/dev/bin/epilogue --version && echo && build/dev/bin/epilogue tour --quick --out build/tour
test: setup
	scripts/test
check: test lint
	scripts/check
bench: build
	build/release/bin/epilogue_bench
format: setup
	@clang-format-19 -i $(SOURCES)
lint: setup
	@clang-format-19 --dry-run --Werror $(SOURCES)
	@scripts/check_includes
