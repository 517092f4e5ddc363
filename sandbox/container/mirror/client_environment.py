"""How pip and npm in the container are told of a registry: by their environment."""

from sandbox.model.registry import Registry


def environment(registry: Registry) -> dict[str, str]:
    """Variables that make the registry the one that they use, over the image's configuration.

    Names: https://pip.pypa.io/en/stable/topics/configuration/, and the manual page config(7) of npm
    """
    address = f"http://127.0.0.1:{registry.port}"
    return {
        "PIP_NO_INDEX": "0",
        "PIP_INDEX_URL": f"{address}/simple/",
        "npm_config_registry": f"{address}/",
        "npm_config_audit": "false",
        "npm_config_fund": "false",
        "npm_config_update_notifier": "false",
        # npm's own 10 and 60 seconds make a registry that is not there look like one that hangs.
        "npm_config_fetch_retry_mintimeout": "100",
        "npm_config_fetch_retry_maxtimeout": "1000",
    }
