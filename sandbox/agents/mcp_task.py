"""The task as an MCP client can ask for it: a prompt and a resource, each with the same text."""

from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server import ServerRequestContext

from sandbox.model.briefing import Briefing

NAME, ADDRESS = "task", "sandbox://task"


class Task:
    """What is to be done in a run."""

    def __init__(self, briefing: Briefing) -> None:
        self._title = briefing.title
        self.text = f"{briefing.title}\n\n{briefing.prompt.rstrip()}"

    async def list_prompts(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        """Name the one prompt."""
        return types.ListPromptsResult(
            prompts=[types.Prompt(name=NAME, title=self._title, description="What is to be done.")]
        )

    async def get_prompt(
        self, _context: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        """Give it; an error for another one."""
        if params.name != NAME:
            raise MCPError(types.INVALID_PARAMS, f"There is one prompt, {NAME}.")
        said = types.TextContent(type="text", text=self.text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=said)])

    async def list_resources(
        self, _context: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Name the one resource."""
        return types.ListResourcesResult(
            resources=[
                types.Resource(name=NAME, uri=ADDRESS, title=self._title, mime_type="text/plain")
            ]
        )

    async def read_resource(
        self, _context: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Give it; an error for another one."""
        if str(params.uri) != ADDRESS:
            raise MCPError(types.INVALID_PARAMS, f"There is one resource, {ADDRESS}.")
        return types.ReadResourceResult(
            contents=[
                types.TextResourceContents(uri=ADDRESS, mime_type="text/plain", text=self.text)
            ]
        )
