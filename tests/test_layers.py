"""Imports point one way: between rooms by floors, within a room by its order, never in a circle.

Each third-party package has one home. ARCHITECTURE.md draws what this file checks.
"""

import ast
import graphlib
import sys
from collections.abc import Iterator

from tests import ROOT

FLOORS = (
    {"model"},
    {"rules", "agents", "container"},
    {"tasks", "graders"},
    {"grading"},
    {"run"},
    {"cli"},
)
"""Lowest first. A room imports rooms of lower floors; `graders` stands beside `sandbox/`."""

ORDER = {
    "rules": ({"monitors"}, {"policy", "checker"}),
    "agents": (
        {
            "base",
            "claims",
            "guard",
            "llm_endpoint",
            "log",
            "tools",
            "turns",
            "typed_actions",
            "playback",
        },
        {"program", "requests", "scripted"},
        {"answers", "call_queue", "inside", "line_buffer", "repairs"},
        {"called_agent", "minimal", "program_agent"},
        {"call_server", "function_agent", "llm"},
        {"messages"},
        {"mcp_task"},
        {"mcp_server", "session_caller"},
        {"mcp_agent", "permissions"},
        {"acp_client"},
        {"acp_agent", "clients"},
    ),
    "container": (
        {"supervisor", "http"},
        {"engines", "forwarder", "mirror"},
        {"candidate", "changes", "servers"},
        {"world_layer"},
    ),
    "tasks": (
        {"parameters", "python_tests"},
        {"differences", "misspelt", "misspelt_tests", "plans", "sources", "template"},
        {"drafts", "released"},
        {"features"},
        {"library"},
        {"repos", "suites"},
        {"choice", "harvested", "images", "seeds"},
        {"authoring"},
        {"imports"},
    ),
    "grading": (
        {"patience", "script_values"},
        {
            "dimensions",
            "draws",
            "files",
            "first_reason",
            "json_conversation",
            "runners",
            "scripts",
            "stored_grade",
            "testers",
            "verdict",
        },
        {"metrics"},
        {"measured"},
        {"frameworks", "reports", "cases", "run_lines"},
        {
            "baselines",
            "commit_hooks",
            "gate",
            "graded_files",
            "outcomes",
            "processes",
            "tested",
        },
        {"grading_session", "own_tests"},
        {"file_runs"},
        {"hidden"},
        {"proof"},
    ),
    "run": (
        {"laid_worlds"},
        {
            "actions",
            "admission",
            "consequence",
            "disk_watch",
            "ending",
            "facts",
            "harvest",
            "live_rules",
            "outcome",
            "rewordings",
            "run_containers",
            "scripted_agents",
            "stop",
            "stored_evidence",
            "user_model",
        },
        {"exports"},
        {"budget", "capacity", "conversation", "exploits", "fresh_session"},
        {"performer"},
        {"side_actions"},
        {"loop"},
        {"safety", "trial"},
        {"judged_trial"},
        {"claims", "dead_runs", "journal"},
        {"batch", "experiment", "replay"},
        {"audit", "cluster", "judge", "mine", "validate"},
        {"python", "recorded_tests"},
        {"chat_environment", "imports", "pool", "python_async"},
        {"inspect_tasks"},
    ),
    "cli": (
        {"completion"},
        {
            "crash",
            "defaults",
            "grouped",
            "inside",
            "open_sessions",
            "options",
            "output_records",
            "terminal",
        },
        {"reply_text"},
        {
            "agent_choice",
            "approver",
            "change_rows",
            "event_text",
            "human",
            "interrupts",
            "outputs",
            "run_end",
            "stored_runs",
            "tables",
            "user_choice",
        },
        {"agent", "made_rows", "pages", "session_process"},
        {"board", "order"},
        {"works"},
        {"batch_progress"},
        {"verbs"},
        {"app"},
    ),
}
"""By room, lowest first: a part imports parts of its room that stand lower."""

HOMES: dict[str, str | tuple[str, ...]] = {
    "docker": "sandbox/container/engines/docker",
    "mcp": ("sandbox/agents/mcp_server", "sandbox/agents/mcp_task"),
    "mcp_types": ("sandbox/agents/mcp_server", "sandbox/agents/mcp_task"),
    "uvicorn": ("sandbox/agents/mcp_server", "sandbox/cli/pages/site"),
    "starlette": ("sandbox/agents/mcp_server", "sandbox/cli/pages/site"),
    "jinja2": "sandbox/cli/pages/page",
    "markupsafe": "sandbox/cli/pages/",
    "rich": "sandbox/cli/board",
    "git": "sandbox/tasks/repos",
    "h11": ("sandbox/container/http", "sandbox/agents/playback/server"),
    "acp": "sandbox/agents/acp_client",
    "openai": ("sandbox/agents/llm", "sandbox/run/judge", "sandbox/run/user_model"),
    "packaging": "sandbox/tasks/authoring/",
    "pyte": "sandbox/tasks/imports/typed",
    "typer": "sandbox/cli/",
    "numpy": "sandbox/grading/metrics/",
    "mpmath": "sandbox/grading/metrics/intervals",
    "yaml": "sandbox/model/yaml_tree",
    "regex": "sandbox/model/patterns",
    "zstandard": "sandbox/container/candidate",
    "inspect_ai": ("sandbox/run/exports/inspect_log", "sandbox/run/inspect_tasks"),
    "pyarrow": "sandbox/run/exports/table",
    "tree_sitter": "sandbox/tasks/seeds/languages",
    "ziglang": "sandbox/container/supervisor/compiler",
}
"""By package: what the path of each file that imports it starts with."""

MODEL_MAY_IMPORT = {
    "pydantic",
    "pydantic_core",
    "sandbox",
    "typing_extensions",
} | sys.stdlib_module_names
"""Recursive types need what Python has in `typing` from 3.12 on; pydantic itself takes it there."""

SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("sandbox/**/*.py"), *ROOT.glob("graders/**/*.py")])
}
MODULES = {path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in SOURCES}


def imports(path: str) -> Iterator[str]:
    """Dotted names of all that a file imports, wherever in the file that stands."""
    for node in ast.walk(ast.parse(SOURCES[path])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides where it points"
            assert node.module
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module


def room_and_part(dotted: str) -> tuple[str, str] | None:
    """`sandbox.rules.policy.gate` is of the room `rules` and its part `policy`."""
    first, *rest = dotted.split(".")
    if first == "graders":
        return "graders", ".".join(rest)
    if first != "sandbox" or not rest or rest[0] in ("__init__", "__main__"):
        return None
    return rest[0], rest[1] if len(rest) > 1 else "__init__"


def level(layers: tuple[set[str], ...], name: str, where: str) -> int:
    for number, layer in enumerate(layers):
        if name in layer:
            return number
    raise AssertionError(f"{name} has no place in {where} of tests/test_layers.py")


def inner_imports() -> Iterator[tuple[str, tuple[str, str], tuple[str, str]]]:
    """Each import of ours: the file, whose it is, and what it points at."""
    for path in SOURCES:
        own = room_and_part(path.removesuffix(".py").replace("/", "."))
        for name in imports(path):
            other = room_and_part(name)
            if own and other and name in MODULES:
                yield path, own, other


def test_rooms_import_rooms_of_lower_floors() -> None:
    seen = 0
    for path, (own, _), (other, _) in inner_imports():
        if own != other:
            seen += 1
            lower = level(FLOORS, other, "FLOORS") < level(FLOORS, own, "FLOORS")
            assert lower, f"{path}: {own} must not import {other}"
    assert seen > 500


def test_parts_of_a_room_keep_its_order() -> None:
    seen = 0
    for path, (room, own), (other_room, other) in inner_imports():
        if room != other_room or own == other or room not in ORDER or own == "__init__":
            continue
        seen += 1
        where = f"ORDER[{room!r}]"
        lower = level(ORDER[room], other, where) < level(ORDER[room], own, where)
        assert lower, f"{path}: {own} must not import {other}"
    assert seen > 100


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for path in SOURCES:
        own = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        graph[own] = {name for name in imports(path) if name in MODULES and name != own}
    tuple(graphlib.TopologicalSorter(graph).static_order())


def test_the_package_holds_rooms_and_nothing_else() -> None:
    rooms = {name for floor in FLOORS for name in floor} - {"graders"}
    present = {path.name for path in (ROOT / "sandbox").iterdir() if path.name != "__pycache__"}
    assert present == rooms | {"__init__.py", "__main__.py", "py.typed"}


def test_each_package_has_one_home() -> None:
    used = set()
    for path in SOURCES:
        for name in imports(path):
            package = name.split(".")[0]
            home = HOMES.get(package)
            assert home is None or path.startswith(home), f"{path}: {name} belongs into {home}"
            used.add(package)
    assert set(HOMES) - {"ziglang"} <= used, "ziglang is run, not imported"


def test_the_model_imports_nothing_but_pydantic_and_itself() -> None:
    for path in SOURCES:
        if path.startswith("sandbox/model/"):
            for name in imports(path):
                package = name.split(".")[0]
                at_home = path.startswith(HOMES.get(package, "?"))
                assert package in MODEL_MAY_IMPORT or at_home, f"{path}: {name}"
