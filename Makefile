# SPDX-License-Identifier: Apache-2.0
.PHONY: setup setup-tests build demo reader wheel wheel-cuda release debs test check bench rivals format lint
SOURCES = $(shell git ls-files '*.c' '*.h' '*.cpp' '*.cu' '*.cuh')

setup:
	@scripts/setup
setup-tests:
	@scripts/setup tests
build: setup
	@scripts/build release all
# Builds in the folder that `make test` also uses, and also the libraries that `cmake --install` installs.
demo: setup
	@scripts/build dev epilogue-cli kernels epilogue_shared epilogue_trace
	@build/dev/bin/epilogue --version && echo && build/dev/bin/epilogue tour --quick --out build/tour
# The trace reader alone: no OpenBLAS, LLVM or CUDA.
reader:
	@scripts/setup reader
	@scripts/build reader epilogue-cli
	@build/reader/bin/epilogue --version
# The Python package with the trace reader, in dist/.
wheel:
	@scripts/setup package
	@scripts/build reader reader_package
	@scripts/wheel build/reader dist
# The PyTorch operator (epilogue.torch), in dist/. Needs the CUDA toolkit 13, and no GPU.
wheel-cuda: setup
	@EPI_OPTIONS=-DEPI_CUDA=ON scripts/build release cuda_package
	@scripts/wheel_cuda build/release dist
# The reader for machines without its libraries: archive, wheel, checksums, bill of materials.
release:
	@scripts/setup package
	@scripts/build reader reader_package
	@scripts/release build/reader dist
# The Debian packages of the command, the library and the reader, for this system, in dist/debs/.
debs:
	@scripts/setup debs
	@scripts/package dist/debs
test: setup-tests
	@scripts/test
check: test lint
	@scripts/check
bench: setup-tests
	@EPI_OPTIONS=-DEPI_BENCH=ON scripts/build release all
	build/release/bin/epilogue_bench
# One GEMM in Epilogue, OpenBLAS, oneDNN and PyTorch.
rivals: setup-tests
	@scripts/setup rivals
	@EPI_OPTIONS=-DEPI_BENCH=ON scripts/build release epilogue_rivals
	EPILOGUE_THREADS=1 build/release/bin/epilogue_rivals
	build/release/bin/epilogue_rivals
format: setup-tests
	@clang-format-19 -i $(SOURCES)
lint: setup-tests
	@clang-format-19 --dry-run --Werror $(SOURCES)
	@scripts/check_includes
	@scripts/check_language
	@mypy --config-file python/mypy.ini --cache-dir build/mypy --no-error-summary python/epilogue
