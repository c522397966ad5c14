"""Compiles the optional C library for `pip install`. Without a compiler, Millrace works, but more slowly."""

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

from setuptools import Extension, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

# Installed, all packages are in a folder of one (docs/decisions.md, Layout and words).
APP = "millrace.app"
PACKAGE = f"{APP}.importer.engine.native"


def _loader() -> ModuleType:
    # By its path: `importer` cannot be imported before its requirements are installed.
    path = Path(__file__).parent / "importer" / "engine" / "native" / "loader.py"
    spec = importlib.util.spec_from_file_location("native_loader", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


loader = _loader()


class BuildLibrary(build_ext):
    """Compiles each build of the library: shared libraries for ctypes, not Python modules."""

    def get_ext_filename(self, fullname: str) -> str:
        """The path of an extension below the packages' folder; the last part of `fullname` is the build."""
        package, _, build = fullname.rpartition(".")
        return str(Path(*package.split("."), loader.library_file(build).name))

    def build_extension(self, ext: Extension) -> None:
        """Compile the build in the extension's name. Raises CompileError, a warning if the extension is optional."""
        path = Path(self.get_ext_fullpath(ext.name))
        try:
            loader.compile_library(ext.name.rpartition(".")[2], path)
        except (OSError, subprocess.CalledProcessError) as error:
            raise CompileError(f"the C library: {error}") from error


class TagWheel(bdist_wheel):
    """Names a wheel that any Python takes: the library is for ctypes."""

    def get_tag(self) -> tuple[str, str, str]:
        """The tags of Python, its binary interface and the platform."""
        return "py3", "none", super().get_tag()[2]


FOLDER = Path(__file__).resolve().parent
# In a checkout, templates and static files are next to the packages; installed, they are inside `dashboard`.
FOLDERS = {
    "millrace": "scripts/installed",
    **{f"{APP}.{name}": name for name in ("config", "dashboard", "importer", "millrace_client")},
    f"{APP}.dashboard.templates": "templates",
    f"{APP}.dashboard.static": "static",
}

setup(
    packages=[
        *FOLDERS,
        *(f"{APP}.{name}" for name in find_packages(include=["config.*", "dashboard.*", "importer.*"])),
    ],
    package_dir=FOLDERS,
    package_data={
        f"{APP}.dashboard.templates": ["**/*"],
        f"{APP}.dashboard.static": ["**/*"],
        # Installed, too, to compile the library later and to check that it is built from these sources.
        PACKAGE: ["src/**/*.c", "src/**/*.h"],
    },
    cmdclass={"bdist_wheel": TagWheel, "build_ext": BuildLibrary},
    ext_modules=[
        Extension(
            f"{PACKAGE}.{build}",
            sources=[str(each.resolve().relative_to(FOLDER)) for each in sorted(loader.SOURCES.rglob("*.c"))],
            optional=True,
        )
        for build in loader.builds_here()
    ],
)
