"""What a test script would fetch is read from its words."""

import pytest

from sandbox.tasks.imports.fetched import Fetched, told


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("apt-get update && apt-get install -y curl", Fetched(("curl",), ())),
        ("DEBIAN_FRONTEND=x apt install -y \\\n  gcc make # both", Fetched(("gcc", "make"), ())),
        ("apk add --no-cache jq", Fetched(("jq",), ())),
        ("pip3 install --no-cache-dir six==1.16 2>/dev/null || true", Fetched((), ("six==1.16",))),
        ("python3 -m pip install --break-system-packages -q attrs", Fetched((), ("attrs",))),
        (
            "pip install -r requirements.txt",
            Fetched((), (), ("pip install -r requirements.txt",)),
        ),
        ("apt-get -y install curl=7.88.1-10+deb12u5", Fetched(("curl=7.88.1-10+deb12u5",))),
        ("pip install attrs | tail -1 > log 2>&1 & wait", Fetched((), ("attrs",))),
        ("(pip install 'numpy>=1,<2' &> /dev/null)", Fetched((), ("numpy>=1,<2",))),
        ("uvx --with=six pytest", Fetched((), ("six", "pytest"))),
        ("uv pip install --system six", Fetched((), ("six",))),
        ("npm install left-pad", Fetched((), (), ("npm install left-pad",))),
        ("wget $URL", Fetched((), (), ("wget $URL",))),
        (
            "pip install git+https://x.org/y.git",
            Fetched((), (), ("pip install git+https://x.org/y.git",)),
        ),
        ("pip list; apt-get update; uv run x", Fetched()),
        ("uv init\nuv add pytest==8.4.1\nuv run pytest x -rA", Fetched((), ("pytest==8.4.1",))),
        (
            "uvx -p 3.13 -w pytest==8.4.1 -w pytest-json-ctrf==0.3.5 pytest --ctrf /x -rA",
            Fetched((), ("pytest==8.4.1", "pytest-json-ctrf==0.3.5")),
        ),
        ("pytest /tests", Fetched((), ("pytest",))),
        ("curl -LsSf https://astral.sh/uv/0.7.13/install.sh | sh", Fetched()),
        ("curl http://localhost:8000/health", Fetched()),
        ("git clone https://x.org/y.git", Fetched((), (), ("git clone https://x.org/y.git",))),
        ("wget https://x.org/y", Fetched((), (), ("wget https://x.org/y",))),
        (
            "cat << EOF > x\npip install six\nEOF\nbash -c 'pip install attrs'",
            Fetched((), ("attrs",)),
        ),
        ("if true; then\n  sudo apt-get install -y jq\nfi", Fetched(("jq",))),
        ("echo 'unfinished", Fetched((), (), ("a script that cannot be read",))),
        ("", Fetched()),
    ],
)
def test_packages_are_told_by_who_has_them(script: str, found: Fetched) -> None:
    assert told([script]) == found


@pytest.mark.parametrize("script", ["uv " * 60_000, "pip install " * 60_000])
def test_a_script_without_an_end_is_told_at_once(script: str) -> None:
    assert told([script]).unknown == ("a script that cannot be read",)
