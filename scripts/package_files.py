# SPDX-License-Identifier: Apache-2.0
"""What wheels and release archives contain, taken from a build folder, and what it needs from the system. scripts/wheel,
scripts/wheel_cuda and scripts/release use it. Needs binutils and ldd, and no package of Python."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCHITECTURES = {"x86_64": "i386:x86-64", "aarch64": "aarch64"}  # uname -m: the name in objdump
# Libraries that every Linux with glibc has. Everything else must be linked statically or be beside the programs.
SYSTEM_LIBRARIES = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt|ld-linux[-\w]*)\.so\.\d+")
BUNDLED_LIBRARIES = re.compile(r"lib(simdjson|isal)\.so\.\d+")  # Debian has no static libraries of them
# The newest versions in RHEL 9, Debian 12 and Ubuntu 22.04: those of GCC 11.
MAX_VERSIONS = {"GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13)}


class PackageError(Exception):
    """A reason why no package can be made, for the user."""


def run(*command, **options):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
    except FileNotFoundError:
        raise PackageError(f"{command[0]}: not found; install binutils and libc-bin") from None
    except subprocess.CalledProcessError as error:
        raise PackageError(f"{pathlib.Path(command[0]).name}: {error.stderr.strip()}") from None


def dotted(version):
    return ".".join(map(str, version))


class Elf:
    """The libraries that an ELF file needs, and the newest version of each set of their symbols."""

    def __init__(self, path):
        self.path = path
        headers = run("objdump", "-p", "-f", str(path), env={**os.environ, "LC_ALL": "C"})
        self.architecture = re.search(r"^architecture: ([^,]+)", headers, re.MULTILINE).group(1)
        self.needed = re.findall(r"^\s+NEEDED\s+(\S+)", headers, re.MULTILINE)
        self.versions = {}
        references = headers.partition("Version References:")[2]
        for name, number in re.findall(r"\b(GLIBC|GLIBCXX|CXXABI)_([0-9.]+)$", references, re.MULTILINE):
            version = tuple(map(int, number.split(".")))
            self.versions[name] = max(version, self.versions.get(name, version))


class Build:
    """The files of a build folder that `target` makes. `work` receives stripped copies."""

    target = ""
    bundled = ()

    def __init__(self, folder, work):
        self.folder = pathlib.Path(folder)
        self.work = pathlib.Path(work)
        cache = self.folder / "CMakeCache.txt"
        if not cache.is_file():
            raise PackageError(f"{folder}: not a build folder: it has no CMakeCache.txt")
        self._cache = dict(re.findall(r"^(\w+):\w+=(.*)$", cache.read_text(), re.MULTILINE))
        self.version = self._cache["CMAKE_PROJECT_VERSION"]
        self.architecture = os.uname().machine
        if self.architecture not in ARCHITECTURES:
            raise PackageError(f"{self.architecture}: packages are made for x86_64 and aarch64 only")
        self.programs = [Elf(path) for path in self._collect()]
        self._check()

    def _collect(self):
        """Finds the files, and returns the programs and libraries among them."""
        raise NotImplementedError

    def _require(self, name):
        path = self.folder / name
        if not path.is_file():
            raise PackageError(f"{path}: missing; build the target {self.target} first")
        return path

    def _strip(self, path):
        copy = self.work / path.name
        run("strip", "--strip-unneeded", "-o", str(copy), str(path))
        copy.chmod(0o755)
        return copy

    def _check(self):
        beside = {path.name for path in self.bundled}
        for program in self.programs:
            if program.architecture != ARCHITECTURES[self.architecture]:
                raise PackageError(f"{program.path.name}: is for {program.architecture}, not for {self.architecture}")
            for name in program.needed:
                if name not in beside and not SYSTEM_LIBRARIES.fullmatch(name):
                    raise PackageError(f"{program.path.name}: needs {name}, which other machines may lack; install its static library "
                                       "and configure again in an empty build folder")

    def newest_glibc(self):
        """The newest version of glibc that a program needs, such as (2, 34)."""
        return max(program.versions.get("GLIBC", (0,)) for program in self.programs)

    def check_portable(self):
        """Refuses programs that need a newer C++ library than the oldest supported systems have."""
        for name, limit in MAX_VERSIONS.items():
            for program in self.programs:
                version = program.versions.get(name, (0,))
                if version > limit:
                    raise PackageError(f"{program.path.name}: needs {name}_{dotted(version)}; RHEL 9 has {name}_{dotted(limit)}; `objdump -T` lists "
                                       "the symbols, and the option --local makes a wheel for this machine")

    def licenses(self, is_local):
        """The licence texts of the libraries that are linked statically or bundled, by package."""
        sbom = json.loads(self.sbom.read_text())
        texts = {}
        for package in sbom["packages"]:
            if package["SPDXID"] == "SPDXRef-epilogue" or SYSTEM_LIBRARIES.fullmatch(package["name"]):
                continue
            locators = [reference["referenceLocator"] for reference in package.get("externalRefs", [])]
            name = re.match(r"pkg:deb/\w+/([^@]+)@", locators[0]).group(1) if locators else package["name"]
            path = self._license_file(name)
            if path.is_file():
                texts[name] = path.read_bytes()
            elif not is_local:
                raise PackageError(f"{path}: missing; the package must contain the licence of {package['name']}")
        return texts

    def _license_file(self, package):
        return pathlib.Path("/usr/share/doc") / package / "copyright"

    def platform_tag(self, is_local):
        """The newest glibc whose symbols the programs use, or this machine alone."""
        if is_local:
            return f"linux_{self.architecture}"
        self.check_portable()
        return f"manylinux_{dotted(self.newest_glibc()[:2]).replace('.', '_')}_{self.architecture}"


class ReaderBuild(Build):
    """The library and the command that read traces."""

    target = "reader_package"

    def _collect(self):
        self.sbom = self._require("portable/epilogue.spdx.json")
        self.library = self._strip(self._require("lib/libepilogue_trace.so"))
        self.command = self._strip(self._require("portable/epilogue"))
        self.bundled = [self._strip(path) for path in self._bundled()]
        return [self.library, self.command, *self.bundled]

    def _bundled(self):
        """The libraries to put beside the programs, as ldd finds them or in the folder that the build used."""
        levels = {"simdjson_DIR": 1, "EPI_ISAL_LIBRARY": 0}  # up to the folder with the library
        folders = [str(pathlib.Path(self._cache[name]).parents[up]) for name, up in levels.items() if name in self._cache]
        folders += filter(None, [os.environ.get("LD_LIBRARY_PATH")])
        found = run("ldd", str(self.library), env={**os.environ, "LD_PRELOAD": "", "LD_LIBRARY_PATH": ":".join(folders)})
        paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", found, re.MULTILINE))
        for name in Elf(self.library).needed:
            if BUNDLED_LIBRARIES.fullmatch(name):
                if name not in paths:
                    raise PackageError(f"{name}: not found; {self.library.name} needs it")
                copy = self.work / "found" / name
                copy.parent.mkdir(exist_ok=True)
                copy.write_bytes(pathlib.Path(paths[name]).read_bytes())
                yield copy


class CudaBuild(Build):
    """The library with the PyTorch operator, and its code for Hopper."""

    target = "cuda_package"

    def _collect(self):
        self.sbom = self._require("cuda_package/epilogue-cuda.spdx.json")
        self.library = self._strip(self._require("lib/libepilogue_glu.so"))
        self.cubins = sorted((self.folder / "cuda_package/cubins").glob("*.cubin"))
        if not self.cubins:
            raise PackageError(f"{self.folder}/cuda_package/cubins: empty; build the target {self.target} first")
        return [self.library]

    def _license_file(self, package):
        if package not in ("cudart", "nvrtc", "cublasLt"):
            return super()._license_file(package)
        # NVIDIA's license has two places: that of the toolkit, and that of its Python packages.
        toolkit = pathlib.Path(self._cache["EPI_NVCC"]).resolve().parent.parent
        found = [*toolkit.glob("EULA.txt"), *toolkit.glob("dist-info/nvidia_cuda_runtime-*/licenses/License.txt")]
        return found[0] if found else toolkit / "EULA.txt"


def main(script, usage, make, build=ReaderBuild):
    """Runs `make(build, output, is_local)` for the arguments [--local] BUILD_FOLDER OUTPUT_FOLDER."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--local"]
    if len(arguments) != 2 or any(argument.startswith("-") for argument in arguments):
        print(f"{script}: usage: {usage}", file=sys.stderr)
        return 2
    try:
        output = pathlib.Path(arguments[1])
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as work:
            make(build(arguments[0], work), output, "--local" in sys.argv)
    except (PackageError, OSError) as error:
        print(f"{script}: {error}", file=sys.stderr)
        return 2
    return 0
