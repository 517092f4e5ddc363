"""A command line that is told where its model is, as clients with a preset are."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from string import Template

from sandbox.agents.clients.preset_client import Model
from sandbox.agents.mcp_agent import Address, CommandClient, Launch


class ModelledCommand(CommandClient):
    """Fulfils `Client`: the command, with variables for its model besides those for the server."""

    def __init__(self, command: str, variables: Mapping[str, str], model: Model) -> None:
        """Take templates of variables, for `${base_url}`, `${key}` and `${model}`."""
        super().__init__(command)
        known = {"base_url": model.base_url, "key": model.key, "model": model.name}
        self._variables = {
            name: Template(text).substitute(known) for name, text in variables.items()
        }

    def launch(self, address: Address, prompt: str, folder: Path) -> Launch:
        """Start it in the current folder."""
        launch = super().launch(address, prompt, folder)
        return replace(launch, environment={**launch.environment, **self._variables})
