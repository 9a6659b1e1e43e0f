"""What bash, zsh and fish offer after <Tab>, out of what --help says."""

import re

FILES = ("file", "log", "--config", "--floors", "--healthy", "--history",
         "--output", "--rules", "--socket", "--while-locked")
RUNS_AND_FILES = ("a", "b", "recording", "--against", "--to")
# Run ids of the daemon, those alone that are words to every shell.
RUN_IDS = ("nanwatch runs --json 2>/dev/null"
           " | grep -o '\"run_id\": *\"[A-Za-z0-9._@-]*\"' | cut -d'\"' -f4")


def kind(argument):
    """What its values are: a folder, files, words, ..."""
    name = argument.names[-1]
    if not argument.type:
        return ""
    if name in ("run", "command"):
        return name
    if name in ("rule", "--rule"):
        return "rules"
    if name == "--format":
        return "formats"
    if name == "--pages":
        return "folder"
    if name in RUNS_AND_FILES:
        return "runs and files"
    return "files" if name in FILES else "anything"


def short(text):
    """The beginning of a sentence, without what a shell could read."""
    text = re.split(r"[;:.(\[]", text)[0].strip().replace("'", "\u2019")
    return re.sub(r"[^\w ,/\u2019-]", "", text) or "value"


def own_options(command):
    return [name for option in command.options for name in option.names]


def quoted(words):
    return "'" + " ".join(words) + "'"


# ---------------------------------------------------------------------- bash

BASH = """# bash completion of {name}, made by deploy/help out of {name} --help.
_{name}_words() {{
  local word
  while IFS= read -r word; do
    if [[ $word == "$1"* ]]; then COMPREPLY+=("$word"); fi
  done
}}

_{name}_offer() {{
  case "$1" in
    rules) _{name}_words "$2" < <(printf '%s\\n' {rules}) ;;
    formats) _{name}_words "$2" < <(printf '%s\\n' {formats}) ;;
    folder)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -d -- "$2")
      ;;
    command) mapfile -t COMPREPLY < <(compgen -A command -A file -- "$2") ;;
    files | 'runs and files')
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$2")
      ;;
  esac
  case "$1" in
    run*) _{name}_words "$2" < <({run_ids}) ;;
  esac
}}

_{name}() {{
  local word path={name} values='' options='' commands='' at=1
  local last=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
  COMPREPLY=()
  for ((; at < COMP_CWORD; at++)); do
    word=${{COMP_WORDS[at]}}
    case "$path $word" in
      {paths}) path="$path $word" ;;
    esac
  done
  case "$path $before" in
{options_with_values}
  esac
  if [ -n "$values" ]; then
    _{name}_offer "$values" "$last"
    return
  fi
  case "$path" in
{commands}
  esac
  if [[ $last == -* ]]; then
    _{name}_words "$last" < <(printf '%s\\n' $options)
  elif [ -n "$commands" ]; then
    _{name}_words "$last" < <(printf '%s\\n' $commands)
  else
    _{name}_offer "$values" "$last"
  fi
}}
complete -F _{name} {name}
"""


def bash(program, rules, formats):
    below = list(program.walk())
    with_values, commands = [], []
    for command in below:
        for option in command.options:
            if option.type:
                names = " | ".join(f'"{command.name} {name}"'
                                   for name in option.names)
                with_values.append(f"    {names}) values='{kind(option)}' ;;")
        own = [f"options={quoted(own_options(command))}"]
        if command.commands:
            own.append("commands="
                       + quoted(c.path[-1] for c in command.commands))
        elif command.positionals:
            own.append(f"values='{kind(command.positionals[0])}'")
        commands.append(f'    "{command.name}") {" ".join(own)} ;;')
    paths = " | ".join(f'"{command.name}"' for command in below)
    return BASH.format(name=program.name, rules=" ".join(rules),
                       formats=" ".join(formats), run_ids=RUN_IDS, paths=paths,
                       options_with_values="\n".join(with_values),
                       commands="\n".join(commands))


# ----------------------------------------------------------------------- zsh


def zsh_action(argument, rules, formats):
    words = {"rules": rules, "formats": formats}.get(kind(argument))
    if words:
        return f"({' '.join(words)})"
    return {"files": "_files", "folder": "_files -/", "command": "_normal",
            "run": "_nanwatch_runs",
            "runs and files": "_nanwatch_runs_and_files"}.get(kind(argument), " ")


def zsh_specs(command, rules, formats):
    for option in command.options:
        others = " ".join({*option.names, *option.excludes})
        for name in option.names:
            value = (f":{option.type}:{zsh_action(option, rules, formats)}"
                     if option.type else "")
            again = "*" if option.many else f"({others})"
            yield f"'{again}{name}[{short(option.text)}]{value}'"
    for argument in command.positionals:
        one = "*" if argument.many else ""
        name = argument.names[0]
        action = zsh_action(argument, rules, formats)
        yield f"'{one}:{'' if one else ''}{name}:{action}'"


def zsh(program, rules, formats):
    name = program.name
    out = [f"#compdef {name}\n# Made by deploy/help out of {name} --help.\n"]
    if program.commands:
        out.append(f"""
_nanwatch_runs() {{
  local -a ids
  ids=("${{(@f)$({RUN_IDS})}}")
  compadd -a ids
}}

_nanwatch_runs_and_files() {{
  _nanwatch_runs
  _files
}}
""")
    for command in program.walk():
        function = "_" + "_".join(command.path).replace("-", "_")
        specs = list(zsh_specs(command, rules, formats))
        if not command.commands:
            inside = "  _arguments -s \\\n    " + " \\\n    ".join(specs)
        else:
            offered = "\n".join(f"    '{c.path[-1]}:{short(c.text)}'"
                                for c in command.commands)
            specs += ["'1:command:->command'", "'*::argument:->argument'"]
            inside = (
                "  local curcontext=$curcontext state line\n  local -a commands\n"
                f"  commands=(\n{offered}\n  )\n"
                "  _arguments -C \\\n    " + " \\\n    ".join(specs) + "\n"
                "  case $state in\n"
                "    command) _describe command commands ;;\n"
                f"    argument) (( $+functions[{function}_${{line[1]//-/_}}] )) && "
                f"{function}_${{line[1]//-/_}} ;;\n  esac")
        out.append(f"\n{function}() {{\n{inside}\n}}\n")
    out.append(f'\n_{name} "$@"\n')
    return "".join(out)


# ---------------------------------------------------------------------- fish

FISH = """# fish completion of {name}, made by deploy/help out of {name} --help.
function __{name}_path
    set -l path {name}
    for word in (commandline -opc)[2..]
        if contains -- "$path $word" {paths}
            set path "$path $word"
        end
    end
    echo $path
end

function __{name}_at
    test (__{name}_path) = "$argv"
end

complete -c {name} -f
"""


def fish_values(argument, rules, formats):
    what = kind(argument)
    words = {"rules": rules, "formats": formats}.get(what)
    if words:
        return f"-xa '{' '.join(words)}'"
    run_ids = RUN_IDS.replace("'", "\\'")
    return {"files": "-rF", "folder": "-xa '(__fish_complete_directories)'",
            "command": "-xa '(__fish_complete_subcommand --fcs-skip=2)'",
            "run": f"-xa '({run_ids})'",
            "runs and files": f"-rFa '({run_ids})'"}.get(what, "-x")


def fish(program, rules, formats):
    name = program.name
    below = list(program.walk())
    out = [FISH.format(name=name, paths=" ".join(
        f"'{command.name}'" for command in below[1:]) or "''")]
    for command in below:
        at = f"complete -c {name} -n '__{name}_at {command.name}'"
        out += [f"{at} -a {c.path[-1]} -d '{short(c.text)}'\n"
                for c in command.commands]
        for option in command.options:
            names = " ".join(("-l " if n.startswith("--") else "-s ")
                             + n.lstrip("-") for n in option.names)
            value = (" " + fish_values(option, rules, formats)
                     if option.type else "")
            out.append(f"{at} {names}{value} -d '{short(option.text)}'\n")
        for argument in command.positionals[:1]:
            values = fish_values(argument, rules, formats)
            if values != "-x":
                # Where there is no option, -r would ask for a value.
                values = values.replace("-rF", "-F").replace("-x", "-")
                out.append(f"{at} {values}\n")
    return "".join(out)
