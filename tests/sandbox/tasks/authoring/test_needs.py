"""What a project says that it needs is read from its files, and none of its code is run."""

from sandbox.tasks.authoring.needs import Needs, told


def test_a_pyproject_says_it_by_tables() -> None:
    text = b"""
[project]
name = "Till"
dependencies = ["click>=8", "till[extra]", "not a requirement at all"]
[project.optional-dependencies]
test = ["hypothesis"]
docs = ["sphinx"]
[dependency-groups]
tests = ["pytest-mock", {include-group = "docs"}]
"""
    assert told({"pyproject.toml": text}) == Needs(
        ("click>=8",), ("hypothesis", "pytest-mock"), "Till"
    )


def test_a_setup_cfg_says_it_by_lines_with_comments() -> None:
    text = b"""
[metadata]
name = till
[options]
install_requires =
    numpy >= 1.20  # the newest that is known
    tomli; python_version < "3.11"
[options.extras_require]
tests = attrs
"""
    found = told({"setup.cfg": text})
    assert found == Needs(("numpy>=1.20", 'tomli; python_version < "3.11"'), ("attrs",), "till")


def test_a_setup_script_is_read_and_not_run() -> None:
    text = b"""
import os
from setuptools import setup
os.abort()
requires = ["idna<4"]
setup(name="till", install_requires=requires, tests_require=get(), extras_require={"test": ["six"]})
"""
    assert told({"setup.py": text}) == Needs(("idna<4",), ("six",), "till")


def test_a_file_of_requirements_counts_more_than_extras() -> None:
    files = {
        "setup.cfg": b"[options.extras_require]\ntest = six==1.0\n",
        "requirements-dev.txt": (
            b"-r base.txt\n-e .[x]\nhttps://example.org/a.whl\nsix==1.16 \\\n  --hash=sha256:00\n"
        ),
        "base.txt": b"attrs # because\n-r requirements-dev.txt\n-r nowhere.txt\n",
    }
    assert told(files).tests == ("attrs", "six==1.16")


def test_files_that_cannot_be_read_say_nothing() -> None:
    files = {
        "pyproject.toml": b"[project\n",
        "setup.cfg": b"\xff\n",
        "setup.py": b"def (" + b"(" * 5_000,
        "requirements-dev.txt": b"\xff\xfe\n",
    }
    assert told(files) == Needs()
