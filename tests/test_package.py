"""What `import sandbox` gives, and what it does not import by itself."""

import subprocess
import sys
import tomllib
from importlib.metadata import distributions

import pytest
from packaging.specifiers import SpecifierSet

import sandbox
from tests import ROOT


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert sandbox.__version__ == project["version"]


def test_what_it_depends_on_runs_on_the_oldest_python_that_it_promises() -> None:
    """One pin that asked for 3.11.5 once left Debian's own Python, 3.11.2, without a set-up."""
    asked = {each.name: each.metadata["Requires-Python"] for each in distributions()}
    newer = {
        name: wanted
        for name, wanted in asked.items()
        if wanted is not None and not SpecifierSet(wanted).contains("3.11.0")
    }
    assert len(asked) > 50
    assert newer == {}


def test_everything_that_is_named_is_there() -> None:
    for name in sandbox.__all__:
        assert getattr(sandbox, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        sandbox.nothing  # noqa: B018


def test_who_imports_it_waits_for_nothing_that_is_not_asked_for() -> None:
    program = "import sandbox, sys; print([m for m in sys.modules if m.startswith('sandbox.')])"
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert told.stdout == "['sandbox.model', 'sandbox.model.version']\n"
