"""What a program's --help says, as data: the one source of the manual pages,
of the completion of shells and of the reference."""

import dataclasses
import re
import subprocess

COLUMN = 30  # where CLI11 begins to describe
SECTIONS = ("Positionals:", "Options:", "Subcommands:")
LEFT = re.compile(
    r"(?P<names>[\w,-]+)(?:\{\w+\})?"
    r"(?: (?P<type>TEXT|INT|FLOAT)(?::(?P<limits>.+?))?)?"
    r"(?P<many> \.\.\.)?(?P<required> REQUIRED)?"
    r"(?: Excludes: (?P<excludes>.+))?")


@dataclasses.dataclass
class Argument:
    """An option, or what stands without one."""

    names: list
    type: str  # TEXT, INT, FLOAT; empty: a switch
    limits: str
    many: bool
    required: bool
    excludes: list
    text: str

    @property
    def shown(self):
        """The names with what follows them."""
        value = f" {self.type}" if self.type else ""
        return ", ".join(self.names) + value + ("..." if self.many else "")


@dataclasses.dataclass
class Command:
    path: list  # nanwatch, bench, set
    text: str
    usage: str
    positionals: list
    options: list
    commands: list

    @property
    def name(self):
        return " ".join(self.path)

    @property
    def sentence(self):
        text = self.text.rstrip(".")
        if not text.startswith(self.path[0]):
            text = text[:1].upper() + text[1:]
        return f"{text}."

    def walk(self):
        """Itself and every command below."""
        yield self
        for command in self.commands:
            yield from command.walk()


def rows(lines):
    """(left, right) of each entry; one that is wide has its text below it."""
    found = []
    for line, below in zip(lines, [*lines[1:], ""]):
        if line.startswith(" " * COLUMN):
            found[-1][1] = line.strip()
        elif below.startswith(" " * COLUMN) or line[COLUMN - 1:COLUMN].strip():
            found.append([line.strip(), ""])
        else:
            found.append([line[:COLUMN].strip(), line[COLUMN:].strip()])
    return found


def argument(left, text):
    match = LEFT.fullmatch(left)
    if not match:
        raise ValueError(f"not an option as CLI11 prints it: {left!r}")
    limits = (match["limits"] or "").removeprefix(f"{match['type']} in ")
    return Argument(match["names"].split(","), match["type"] or "", limits,
                    bool(match["many"]),
                    bool(match["required"]),
                    (match["excludes"] or "").split(), text)


def help_of(binary, path):
    done = subprocess.run([binary, *path, "--help"], capture_output=True,
                          text=True, check=True)
    return done.stdout


def read(binary, path):
    """The command that the program calls by these words, and all below it."""
    lines = help_of(binary, path[1:]).splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("Usage: "))
    sections = {name: [] for name in SECTIONS}
    now = None
    for line in lines[at + 1:]:
        if line in sections:
            now = sections[line]
        elif line.strip():
            now.append(line)
    below = [left for left, _ in rows(sections["Subcommands:"])]
    return Command(path, " ".join(lines[:at]), lines[at][len("Usage: "):],
                   [argument(*row) for row in rows(sections["Positionals:"])],
                   [argument(*row) for row in rows(sections["Options:"])],
                   [read(binary, [*path, name]) for name in below])


def rules(nanwatch):
    """The names of all rules."""
    done = subprocess.run([nanwatch, "explain"], capture_output=True, text=True,
                          check=True)
    return re.findall(r"^ *\d+ +(\w+)", done.stdout, re.M)


def formats(nanwatch):
    """The names of the programs whose logs are known."""
    done = subprocess.run([nanwatch, "check", "--list-formats"],
                          capture_output=True, text=True, check=True)
    return re.findall(r"^ *([\w-]+)", done.stdout, re.M)
