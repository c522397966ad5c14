"""Tests the order of the layers (layers.py)."""

from graphlib import CycleError
from pathlib import Path

import pytest

from tests.layers import (
    EXCEPTIONS,
    FOREIGN_TO_ENGINE,
    LAYERS,
    NEVER_IN_PRODUCT,
    ROOT,
    WHOLE,
    against_the_order,
    edges,
    imports,
    order_of,
    packages,
)


@pytest.fixture(scope="module")
def product() -> dict[str, set[str]]:
    return imports(ROOT, WHOLE)


@pytest.mark.parametrize("package", LAYERS, ids=lambda package: package or "whole")
def test_no_import_goes_against_the_order(product, package):
    assert against_the_order(product, package, LAYERS[package]) == []


def test_the_parts_of_every_package_have_an_order(product):
    """Two parts that import each other, directly or by way of others, have none."""
    found = packages(product)
    assert len(found) > 100
    for parts in found.values():
        order_of(parts)


def test_every_part_has_a_place_in_the_order(product):
    for package, order in LAYERS.items():
        depth = len(package.split(".")) if package else 0
        names = {
            name.split(".")[depth]
            for name in product
            if f"{name}.".startswith(f"{package}." if package else "") and len(name.split(".")) > depth
        }
        assert names - {"migrations"} - set(order) == set(), package or "whole"


def test_the_engine_knows_no_django_no_celery_and_nothing_above_it(product):
    engine = {module: names for module, names in product.items() if module.startswith("importer.engine")}
    assert engine
    foreign = [
        f"{module} imports {name}"
        for module, names in engine.items()
        for name in names
        if name.split(".")[0] in FOREIGN_TO_ENGINE
        or (name.startswith("importer.") and not name.startswith("importer.engine."))
    ]
    assert foreign == []


def test_the_product_knows_neither_its_tests_nor_its_scripts(product):
    known = [
        f"{module} imports {name}"
        for module, names in product.items()
        for name in names
        if name.split(".")[0] in NEVER_IN_PRODUCT
    ]
    assert known == []


def test_every_exception_is_still_needed(product):
    assert set(EXCEPTIONS) <= set(edges(product))


class TestOfTheCheckItself:
    """The checks find an import against the order and a circle."""

    @pytest.fixture
    def tree(self, tmp_path: Path) -> Path:
        for name in ("upper/__init__.py", "upper/a.py", "lower/__init__.py", "lower/b.py"):
            (tmp_path / "app" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "app" / name).write_text("")
        (tmp_path / "app/lower/b.py").write_text("from app.upper.a import name\n")
        return tmp_path

    def test_import_with_the_order_passes(self, tree):
        modules = imports(tree, ["app"])
        assert against_the_order(modules, "app", ["upper", "lower"]) == []
        assert order_of(packages(modules)["app"]) == ["upper", "lower"]

    @pytest.mark.parametrize("line", ["from app.lower import b", "from app.lower.b import name", "import app.lower.b"])
    def test_import_against_the_order_is_named(self, tree, line):
        (tree / "app/upper/a.py").write_text(f"def call():\n    {line}\n")
        modules = imports(tree, ["app"])
        assert against_the_order(modules, "app", ["upper", "lower"]) == ["app.upper.a imports app.lower.b"]
        with pytest.raises(CycleError, match="lower"):
            order_of(packages(modules)["app"])

    def test_a_circle_of_files_that_do_not_import_each_other_is_one_of_their_packages(self, tree):
        (tree / "app/upper/other.py").write_text("from app.lower import other\n")
        (tree / "app/lower/other.py").write_text("")
        with pytest.raises(CycleError):
            order_of(packages(imports(tree, ["app"]))["app"])

    def test_a_circle_of_files_is_found(self, tree):
        (tree / "app/lower/c.py").write_text("import app.lower.d\n")
        (tree / "app/lower/d.py").write_text("import app.lower.c\n")
        with pytest.raises(CycleError):
            order_of(packages(imports(tree, ["app"]))["app.lower"])

    def test_import_of_an_unknown_part_is_named(self, tree):
        assert against_the_order(imports(tree, ["app"]), "app", ["lower"]) == ["app.lower.b imports app.upper.a"]
