"""Plain values as YAML: what is written is read back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.model import yaml_tree

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t")) | (
    st.sampled_from(
        ["no", "0o17", "2025-05-12", "1_000", "~", "", "- a", "a: b", "#", "1e3", ".5", "=", "\n a"]
    )
)
SCALAR = (
    TEXT
    | st.integers(-(10**17), 10**17)
    | st.booleans()
    | st.none()
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUE = st.recursive(
    SCALAR, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=12
)


@pytest.mark.slow
@given(st.dictionaries(TEXT, VALUE))
def test_what_is_written_is_read_back(data: dict[str, object]) -> None:
    tree, problems = yaml_tree.compose(yaml_tree.text(data))
    assert not problems
    left = {key: value for key, value in data.items() if value not in (None, [], {}, "")}
    assert tree.data() == (left or {})
