"""From a template to one HTML document that needs no other file."""

import functools
import hashlib
from base64 import b64encode
from pathlib import Path

import jinja2
from markupsafe import Markup

from sandbox.cli.terminal import visible

TEMPLATES = Path(__file__).with_name("templates")
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'; script-src {scripts}"
)
"""Content Security Policy, level 3: a script runs where its digest stands here."""


def rendered(template: str, scripts: tuple[str, ...] = (), **values: object) -> str:
    """Fill a template in; `scripts` are the texts of scripts that it shall hold besides its own."""
    own = (asset("page.js"), *scripts)
    policy = _POLICY.format(scripts=" ".join(map(_source, own)))
    return (
        _environment()
        .get_template(template)
        .render(
            policy=policy,
            style=Markup(asset("page.css")),  # noqa: S704 - a file of the project's own
            scripts=[Markup(text) for text in own],  # noqa: S704 - and a pinned library
            **values,
        )
    )


def asset(name: str) -> str:
    """Read a file that stands beside the templates."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _source(script: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _shown(value: object) -> object:
    """Show what would steer or hide text by its escape; markup of ours stays as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
