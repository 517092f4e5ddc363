"""What all records share: frozen, strict, and no field that the model does not name."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A value that can be stored and read back."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)
