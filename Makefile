# SPDX-License-Identifier: Apache-2.0
.PHONY: setup build demo test check bench format lint
SOURCES = $(shell git ls-files '*.h' '*.cpp' '*.cu' '*.cuh')

setup:
	@scripts/setup
build: setup
	cmake --preset release -Wno-dev >/dev/null && cmake --build --preset release
demo: setup
	cmake --preset release -Wno-dev >/dev/null && cmake --build --preset release --target epilogue-cli
	build/release/bin/epilogue --version && echo && build/release/bin/epilogue run mlp && echo && build/release/bin/epilogue run mlp --compile
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
