"""Hooks of mkdocs: the site includes files of the repository outside docs/.

README.md, CHANGELOG.md and CONTRIBUTING.md are pages, and so is the notebook; figures are copied; code that a
page links to becomes a page with the file's text. A link to a folder becomes plain text.
"""

import base64
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

TOP = Path(__file__).parents[1]
MOVED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "docs/tutorial.ipynb": "tutorial.md",
}
LINK = re.compile(r"\]\((?!\w+:)([^)\s#]+)(#[^)\s]*)?\)")
NAMED_LINK = re.compile(r"\[([^\[\]]*)" + LINK.pattern)
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
FORMULA_STAR = re.compile(r"(?:(?<=\b\w)|(?<=ᵀ\w)|(?<=θ))\*(?!\*)|(?<=\w)\*(?=\()")
STYLE = re.compile(r"<style.*?</style>\n?| class=\"dataframe\"| border=\"1\"", re.DOTALL)
LANGUAGES = {".py": "python", ".yaml": "yaml", ".cff": "yaml"}
FENCE = "`" * 8
SHELL = "%%sh\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages, figures and sources that lie outside docs/."""
    for path, uri in MOVED.items():
        text = (TOP / path).read_text()
        if path.endswith(".ipynb"):
            text, pictures = notebook_page(json.loads(text))
            for name, picture in pictures.items():
                files.append(File.generated(config, name, content=picture))
        files.append(File.generated(config, uri, content=text))
    pages = [(file, text) for file in files.documentation_pages() if (text := file.content_string)]
    wanted = {target for file, text in pages for target in targets(file.src_uri, text)}
    for path in sorted(wanted, key=str):
        uri = uri_of(path)
        if uri and files.get_file_from_path(uri) is None:
            files.append(_copy(config, path, uri))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text with links changed to the places of their targets on the site."""
    here = page.file.src_uri
    if here.startswith("code/"):
        return markdown

    def unlink_folder(link: re.Match[str]) -> str:
        return link[0] if uri_of(target_of(here, link[2])) else link[1]

    def move(link: re.Match[str]) -> str:
        uri = uri_of(target_of(here, link[1])) or link[1]
        return f"]({os.path.relpath(uri, os.path.dirname(here) or '.')}{link[2] or ''})"

    return escape_formulas(LINK.sub(move, NAMED_LINK.sub(unlink_folder, markdown)))


def escape_formulas(text: str) -> str:
    """The text with the star of θ* escaped, which mkdocs would read as italics."""
    parts = CODE.split(text)
    parts[::2] = [FORMULA_STAR.sub(r"\\*", part) for part in parts[::2]]
    return "".join(parts)


def targets(uri: str, text: str) -> Iterator[Path]:
    """The files that a page links to, by their paths in the repository."""
    for link, _ in LINK.findall(text):
        yield target_of(uri, link)


def target_of(uri: str, link: str) -> Path:
    """The target of a link in the page `uri`."""
    source = {uri: path for path, uri in MOVED.items()}.get(uri, f"docs/{uri}")
    return Path(os.path.normpath(Path(source).parent / link))


def uri_of(path: Path) -> str | None:
    """The place of a file of the repository on the site; None for folders."""
    if path.as_posix() in MOVED:
        return MOVED[path.as_posix()]
    if (TOP / path).is_dir():
        return None
    if path.parts[0] == "docs":
        return path.relative_to("docs").as_posix()
    return f"{path}" if path.suffix in (".png", ".csv") else f"code/{path}.md"


def notebook_page(notebook: dict[str, Any]) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, and its pictures by name."""
    parts, pictures = [], {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        language = "sh" if source.startswith(SHELL) else "python"
        parts.append(f"```{language}\n{source.removeprefix(SHELL)}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "image/png" in data:
                name = f"tutorial-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode("".join(data["image/png"]))
                parts.append(f"![A figure]({name})")
            elif "text/html" in data:
                parts.append(STYLE.sub("", "".join(data["text/html"])))
            else:
                parts.append(f"```text\n{''.join(data['text/plain']).strip()}\n```")
    return "\n\n".join(parts), pictures


def _copy(config: MkDocsConfig, path: Path, uri: str) -> File:
    source = TOP / path
    if not uri.endswith(".md"):
        return File.generated(config, uri, abs_src_path=str(source))
    language = LANGUAGES.get(path.suffix, "text")
    text = f"---\nsearch:\n  exclude: true\n---\n\n# {path.name}\n\n`{path}`\n\n"
    code = f"{text}{FENCE}{language}\n{source.read_text()}\n{FENCE}\n"
    return File.generated(config, uri, content=code)
