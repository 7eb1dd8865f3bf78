"""Records that carry a checksum of themselves, so that a later change is noticed."""

import hashlib
import json
from typing import Any

from odfl_cli.core.reading import as_read

SEAL = "seal"


def sealed(record: dict[str, Any]) -> dict[str, Any]:
    """The record with its checksum as the last entry."""
    return {**record, SEAL: checksum(record)}


def is_intact(record: dict[str, Any]) -> bool:
    """Whether the record is what was sealed; not where it has no seal."""
    return record.get(SEAL) == checksum(record)


def checksum(record: dict[str, Any]) -> str:
    """The SHA-256 of all entries but the seal, whatever their order and layout."""
    content = {name: value for name, value in record.items() if name != SEAL}
    canonical = json.dumps(as_read(content), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
