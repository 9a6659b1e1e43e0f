"""The pages of the site: those of the checkout, and what they link to."""

import pathlib
import re
import shutil

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.M | re.S)
LIST = re.compile(r"\s*(?:[-*]|\d+\.) ")
LONG = 400  # letters of a paragraph
SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z`])")
# Files that become pages, and what colours them.
LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".h": "c",
             ".hpp": "cpp", ".cc": "cpp", ".c": "c", ".proto": "protobuf",
             ".service": "ini", ".cpp": "cpp", ".json": "json", ".toml": "toml"}
PICTURES = (".png", ".svg", ".jpg")


class Pages:
    """Copies pages with all that they link to, at their paths in the checkout,
    so that links between pages hold as they are."""

    def __init__(self, root, into):
        self.root, self.into = root, into
        self.seen = set()

    def add(self, path):
        """A page of the checkout, by its path in it."""
        path = pathlib.PurePosixPath(path)
        if path in self.seen:
            return
        self.seen.add(path)
        source, target = self.root / path, self.into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(self.adapted(path, source.read_text()))
        else:
            shutil.copy(source, target)

    def write(self, path, text):
        """A page that is in no checkout."""
        path = pathlib.PurePosixPath(path)
        self.seen.add(path)
        (self.into / path).parent.mkdir(parents=True, exist_ok=True)
        (self.into / path).write_text(self.adapted(path, text))

    def adapted(self, page, text):
        """With links that hold on the site; what stands in code stays."""
        if page.parent.name == "rules":
            text = sentence_by_sentence(text)
        parts = CODE.split(text)
        parts[::2] = [LINK.sub(lambda m: self.link(page, m), part)
                      for part in parts[::2]]
        return spaced("".join(parts))

    def link(self, page, match):
        picture, words, link = match.groups()
        path, _, anchor = link.partition("#")
        if not path or re.match(r"\w+:", link):
            return match[0]
        target = self.resolve(page.parent / path)
        up = "../" * (len(page.parts) - 1)
        anchor = f"#{anchor}" if anchor else ""
        found = self.root / target
        if (self.into / target).is_file() and target in self.seen:
            pass
        elif found.is_dir():
            if not (found / "README.md").is_file():
                return words
            target = target / "README.md"
            self.add(target)
        elif found.suffix in (".md", *PICTURES):
            self.add(target)
        elif found.suffix in LANGUAGES or found.suffix == "":
            target = self.code(target)
        else:
            return words
        return f"{picture}[{words}]({up}{target}{anchor})"

    def resolve(self, path):
        """Without "..": a path in the checkout."""
        return pathlib.PurePosixPath(
            (self.root / path).resolve().relative_to(self.root))

    def code(self, path):
        """The page of a file that is no page, with its text."""
        page = path.with_name(path.name + ".md")
        if page not in self.seen:
            self.seen.add(page)
            target = self.into / page
            target.parent.mkdir(parents=True, exist_ok=True)
            language = LANGUAGES.get(path.suffix, "text")
            text = (self.root / path).read_text()
            target.write_text(f"# {path.name}\n\n`{path}`\n\n"
                              f"````{language}\n{text}````\n")
        return page


def sentence_by_sentence(text):
    """A long paragraph of a rule is a list: each sentence says one thing."""
    names = set(re.findall(r"^\| `(\w+_\w+)` \|", text, re.M))
    word = re.compile(r"`\w+`|\w+")
    lines = []
    for line in text.splitlines():
        if len(line) > LONG and not re.match(r"[-|#`<]", line):
            line = word.sub(lambda m: f"`{m[0]}`" if m[0] in names else m[0],
                            line)
            line = "\n".join(f"- {said}" for said in SENTENCE.split(line))
        lines.append(line)
    return "\n".join(lines) + "\n"


def spaced(text):
    """Where a host of Markdown sees a list, the site's reader wants an empty
    line before it, and four spaces where a list stands in a list."""
    lines, before, code = [], "", False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            code = not code
        elif not code and LIST.match(line):
            if before.strip() and not LIST.match(before) and before[0] != " ":
                lines.append("")
            indent = len(line) - len(line.lstrip())
            line = " " * indent + line
        lines.append(line)
        before = line
    return "\n".join(lines) + "\n"
