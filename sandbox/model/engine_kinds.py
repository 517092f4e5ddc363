"""The kinds of engines, and the variable that chooses one."""

ENGINE_KINDS = ("docker", "native")
ENGINE_VARIABLE = "SANDBOX_ENGINE"
