"""What the native engine understands of Dockerfiles, and what it refuses with the line."""

import pytest

from sandbox.container.engines.native import dockerfile
from sandbox.model.errors import ImageError

TEXT = """\
# a comment
FROM base

ARG NAME=value
RUN echo one \\
 # a comment inside
 && echo two

ENV A=1 \\
    B="two words"
COPY --chown=10001:10001 home/ /home/agent/
CMD ["sh"]
"""


def test_lines_that_go_on_are_one_and_know_where_they_begin() -> None:
    found = list(dockerfile.lines(TEXT))
    assert [(line.number, line.instruction) for line in found] == [
        (2, "FROM"),
        (4, "ARG"),
        (5, "RUN"),
        (9, "ENV"),
        (11, "COPY"),
        (12, "CMD"),
    ]
    assert dockerfile.command(found[2]) == ["/bin/sh", "-c", "echo one  && echo two"]
    assert dockerfile.pairs(found[3], {}) == {"A": "1", "B": "two words"}
    assert dockerfile.copied(found[4], {}) == (["home/"], "/home/agent/", "10001:10001")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$A/${B}", "one/"),
        ("${A:-x}${B:-x}", "onex"),
        ("${A:+x}${B:+x}", "x"),
        (r"\$A", "$A"),
        ("$AB", ""),
    ],
)
def test_variables_are_put_in_their_places(text: str, value: str) -> None:
    assert dockerfile.expanded(text, {"A": "one"}) == value


def test_a_command_may_be_a_list() -> None:
    (line,) = dockerfile.lines('RUN ["a", "b c"]')
    assert dockerfile.command(line) == ["a", "b c"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("FROM a\nVOLUME /x", "line 2: VOLUME"),
        ("FROM a\nADD x /y", "line 2: ADD"),
        ("FROM a\nRUN <<EOF", "here-documents"),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ImageError, match=said):
        list(dockerfile.lines(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("COPY --from=stage a /b", "--from"),
        ("COPY --chown=agent a /b", "by numbers"),
        ('COPY ["a", "/b"]', "without brackets"),
        ("COPY /b", "a target"),
    ],
)
def test_copies_that_are_not_known_are_refused(text: str, said: str) -> None:
    (line,) = dockerfile.lines(text)
    with pytest.raises(ImageError, match=said):
        dockerfile.copied(line, {})
