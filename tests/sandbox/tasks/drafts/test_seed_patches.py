"""A seed's patches lead to the defect and back, as git applies them."""

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.model.seed import Edit
from sandbox.tasks.drafts.seed_patches import patch
from sandbox.tasks.seeds.edits import edits_between

PATH = "lib/code.py"
ENDS = ("\n", "\r\n", " \x0c\n", " \u2028\n")


def applied(edits: tuple[Edit, ...], before: bytes, folder: Path, *, back: bool) -> bytes:
    (folder / PATH).parent.mkdir(parents=True, exist_ok=True)
    (folder / PATH).write_bytes(before)
    text = patch(edits, back=back).encode()
    subprocess.run(["git", "apply"], input=text, cwd=folder, check=True)
    return (folder / PATH).read_bytes()


@st.composite
def versions(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Give a file of many lines, and one in which some of them differ, are there twice or gone."""
    lines = [f"{number} = {number}{draw(st.sampled_from(ENDS))}" for number in range(30)]
    changed = list(lines)
    for place in sorted(draw(st.sets(st.integers(0, 29), min_size=1, max_size=4)), reverse=True):
        changed[place : place + 1] = draw(
            st.sampled_from(([], [f"x{lines[place]}"], [lines[place], f"y{lines[place]}"]))
        )
    if draw(st.booleans()):
        lines[-1] = lines[-1].rstrip("\n")
    return "".join(lines).encode(), "".join(changed).encode()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pair=versions())
def test_both_ways_lead_where_they_should(pair: tuple[bytes, bytes], tmp_path: Path) -> None:
    right, wrong = pair
    edits = edits_between(PATH, right, wrong)
    assert applied(edits, right, tmp_path, back=False) == wrong
    assert applied(edits, wrong, tmp_path, back=True) == right
