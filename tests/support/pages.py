"""What a report holds, read from its file."""

import base64
import json
import re
import zlib
from typing import Any


def content_of(text: str) -> dict[str, Any]:
    """The JSON inside a page."""
    found = re.search(r'id="content">([^<]*)<', text)
    assert found is not None
    content: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(found[1])))
    return content
