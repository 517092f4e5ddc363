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
    assert told(files).tests == ("six==1.16", "attrs")


def test_files_that_include_each_other_are_read_once() -> None:
    files = {
        f"requirements/{number}.txt": f"-r {number + 1}.txt\n-r {number + 1}.txt\n".encode()
        for number in range(60)
    }
    files |= {"requirements-dev.txt": b"-r requirements/0.txt\n", "requirements/60.txt": b"six\n"}
    assert told(files).tests == ("six",)


def test_files_that_cannot_be_read_say_nothing() -> None:
    files = {
        "pyproject.toml": b"[project\n",
        "setup.cfg": b"\xff\n",
        "setup.py": b"a" + b".a" * 5_000 + b"()",
        "requirements-dev.txt": b"\xff\xfe\n",
    }
    assert told(files) == Needs()
