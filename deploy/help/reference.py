"""The reference of all commands (Markdown) out of what --help says."""

import manual

HEAD = """# Commands

What `nanwatch` and `nanwatchd` understand, as their `--help` says it.
"""


def row(argument):
    text = manual.about(argument).replace("|", "\\|")
    return f"| `{argument.shown}` | {text} |\n"


def section(command):
    depth = "#" * min(len(command.path) + 1, 4)
    own = [o for o in command.options
           if "--help" not in o.names or len(command.path) == 1]
    rows = "".join(map(row, [*command.positionals, *own]))
    table = f"\n| argument | meaning |\n|---|---|\n{rows}" if rows else ""
    return (f"\n{depth} {command.name}\n\n{command.sentence}\n\n"
            f"```text\n{command.usage}\n```\n{table}")


def page(programs):
    return HEAD + "".join(section(command) for program in programs
                          for command in program.walk())
