"""What an agent's commands find in their environment."""

from collections.abc import Mapping

from sandbox.model.session import HOME

ENVIRONMENT = {
    "PATH": "/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "VIRTUAL_ENV": "/opt/venv",
    "HOME": HOME,
    "USER": "agent",
    "LOGNAME": "agent",
    "SHELL": "/bin/bash",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_AUTHOR_NAME": "agent",
    "GIT_AUTHOR_EMAIL": "agent@example.org",
    "GIT_COMMITTER_NAME": "agent",
    "GIT_COMMITTER_EMAIL": "agent@example.org",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PYTHONHASHSEED": "0",
}
"""The whole environment of an agent's commands."""
OURS = ("PATH", "VIRTUAL_ENV")
"""What only our own images have."""
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where programs are in an image that does not say so."""


def environment_of(variables: Mapping[str, str]) -> dict[str, str]:
    """Give what the same commands find in a foreign image, which has variables of its own."""
    ours = {name: value for name, value in ENVIRONMENT.items() if name not in OURS}
    return {**ours, "PATH": PATH, **variables}
