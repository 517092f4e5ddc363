"""A page as a browser shows it."""

import shutil
from pathlib import Path

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


class Looked:
    """A page, and what the browser complained of."""

    def __init__(self, page: object) -> None:
        from playwright.sync_api import Page

        assert isinstance(page, Page)
        self.page = page
        self.complaints: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._requested(request.url))

    def _requested(self, url: str) -> None:
        if not url.startswith(("file:", "data:")):
            self.complaints.append(url)

    def open(self, text: str, folder: Path) -> None:
        file = folder / "page.html"
        file.write_text(text)
        self.page.goto(file.as_uri())
