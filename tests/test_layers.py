"""Imports point one way, and each third-party package has one home. ARCHITECTURE.md is the list."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LAYERS = (
    {"errors"},
    {"model"},
    {"places", "documents", "scopes", "patterns"},
    {"sources", "supervisor", "trace", "agents", "mirror", "monitors", "metrics", "playback"},
    {"policy", "clients", "forwarder"},
    {"repos", "tasks", "checker", "exploits"},
    {"engines"},
    {"images", "changes", "servers", "candidate", "stopping", "watched"},
    {"actions"},
    {"run"},
    {"graders"},
    {"grading"},
    {"store"},
    {"trial", "report", "safety"},
    {"batch"},
    {"validate", "audit"},
    {"cli"},
)
"""Lowest first."""

HOMES = {
    "docker": "sandbox/engines/docker",
    "mcp": "sandbox/agents/mcp_server",
    "mcp_types": "sandbox/agents/mcp_server",
    "uvicorn": "sandbox/agents/mcp_server",
    "git": "sandbox/repos",
    "acp": "sandbox/agents/acp_client",
    "openai": "sandbox/agents/llm",
    "typer": "sandbox/cli/",
    "numpy": "sandbox/metrics/",
    "scipy": "sandbox/metrics/",
    "yaml": "sandbox/documents",
    "regex": "sandbox/patterns",
    "zstandard": "sandbox/candidate",
    "ziglang": "sandbox/supervisor/build",
}
"""By package: what the path of each file that imports it starts with."""

MODEL_MAY_IMPORT = {"pydantic", "sandbox", "typing_extensions"} | sys.stdlib_module_names
"""Recursive types need what Python has in `typing` from 3.12 on; pydantic itself takes it there."""


def sources() -> list[Path]:
    return sorted([*ROOT.glob("sandbox/**/*.py"), *ROOT.glob("graders/**/*.py")])


def imports(path: Path) -> Iterator[str]:
    """Dotted names of all that a file imports, wherever in the file that stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides where it points"
            assert node.module
            if node.module == "sandbox":
                yield from (f"sandbox.{alias.name}" for alias in node.names)
            else:
                yield node.module


def module_of(dotted: str) -> str | None:
    """The layer's module that a dotted name or path belongs to."""
    parts = dotted.split(".")
    if parts[0] == "graders":
        return "graders"
    return parts[1] if parts[0] == "sandbox" and len(parts) > 1 else None


def level(module: str) -> int:
    found = [number for number, layer in enumerate(LAYERS) if module in layer]
    assert found, f"{module} has no place in LAYERS and ARCHITECTURE.md"
    return found[0]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    own = module_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
    if own is None or own == "__init__":
        return
    for name in imports(path):
        other = module_of(name)
        if other in (None, own, "__version__"):
            continue
        assert other is not None
        assert level(other) < level(own), f"{path}: {own} must not import {other}"


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_each_package_has_one_home(path: Path) -> None:
    place = str(path.relative_to(ROOT))
    for name in imports(path):
        home = HOMES.get(name.split(".")[0])
        assert home is None or place.startswith(home), f"{name} belongs into {home}"


def test_the_model_imports_nothing_but_pydantic_and_itself() -> None:
    for path in ROOT.glob("sandbox/model/*.py"):
        for name in imports(path):
            assert name.split(".")[0] in MODEL_MAY_IMPORT, f"{path}: {name}"
            assert module_of(name) in (None, "model"), f"{path}: {name}"


def test_the_architecture_names_every_module() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)`", text))
    for layer in LAYERS:
        assert layer <= named, f"ARCHITECTURE.md does not name {layer - named}"
    present = {path.stem for path in ROOT.glob("sandbox/*") if not path.name.startswith("_")}
    assert present - {"README"} <= {module for layer in LAYERS for module in layer}
