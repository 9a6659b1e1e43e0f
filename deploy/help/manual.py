"""Manual pages (roff) out of what --help says."""

import re

# What --help does not say: the section of a page, and what ends it.
SECTIONS = {"nanwatch": 1, "nanwatchd": 8}
ENDS = {
    "nanwatch": [
        ("ENVIRONMENT", [("NANWATCH_ADDRESS", "the daemon; see --address")]),
        ("SEE ALSO", "nanwatchd(8)"),
    ],
    "nanwatchd": [
        ("FILES", [
            ("/etc/nanwatch/nanwatch.yaml",
             "the configuration that the packaged service reads"),
            ("/run/nanwatch/ingest.sock", "the socket for trainings"),
            ("/var/lib/nanwatch/history.db", "the history of the service"),
        ]),
        ("SIGNALS", [
            ("TERM", "take in what has come, and end within 5 seconds"),
            ("HUP", "read the sections rules, engine, alerts, access and "
             "quotas of the configuration again, and web.config_file"),
        ]),
        ("SEE ALSO", "nanwatch(1)"),
    ],
}


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def prose(text):
    """With what stands in backticks in bold."""
    parts = escaped(text).split("`")
    return "".join(part if i % 2 == 0 else f"\\fB{part}\\fR"
                   for i, part in enumerate(parts))


def term(argument):
    names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in argument.names)
    value = f" \\fI{argument.type}\\fR" if argument.type else ""
    return names + value + (" ..." if argument.many else "")


def about(argument):
    said = [argument.text] if argument.text else []
    if argument.required and argument.names[0].startswith("-"):
        said.append("required")
    if argument.limits:
        said.append(argument.limits)
    if argument.excludes:
        said.append("not with " + ", ".join(argument.excludes))
    return "; ".join(said) or "see above"


def listed(rows):
    return "".join(f".TP\n{left}\n{prose(right)}\n" for left, right in rows)


def arguments(command):
    # Each command has --help; it stands once.
    own = [o for o in command.options
           if "--help" not in o.names or len(command.path) == 1]
    return listed((term(a), about(a)) for a in [*command.positionals, *own])


def page(program, version):
    """The page of a program with all its commands."""
    name = program.name
    first, _, rest = program.text.partition(". ")
    what = first.removeprefix(f"{name} ").rstrip(".")
    out = [f'.TH {name.upper()} {SECTIONS[name]} "" "nanwatch {version}"\n.nh\n',
           f".SH NAME\n{name} \\- {escaped(what)}\n",
           f".SH SYNOPSIS\n.B {escaped(program.usage)}\n",
           f".SH DESCRIPTION\n{prose(rest or program.text)}\n",
           f".SH OPTIONS\n{arguments(program)}"]
    below = list(program.walk())[1:]
    if below:
        out.append(".SH COMMANDS\n")
    out += [f'.SS "{escaped(c.usage)}"\n{prose(c.sentence)}\n{arguments(c)}'
            for c in below]
    for title, said in ENDS[name]:
        out.append(f".SH {title}\n")
        out.append(listed(said) if isinstance(said, list) else f"{said}\n")
    return "".join(out)
