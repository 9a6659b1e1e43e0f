"""C++ as text, for lints that need a little more of it than lines."""

import re

CODE = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | R"(?P<mark>[^(\n]*)\((?P<raw>.*?)\)(?P=mark)"
  | "(?:\\.|[^"\\\n])*"
  | (?<![\w'])'(?:\\.|[^'\\\n])+'
""", re.S | re.X)


def blanked(text):
    """As many spaces; ends of lines stay, so that offsets and lines do."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The text with spaces for comments. Strings stay."""
    return CODE.sub(
        lambda m: blanked(m[0]) if m["comment"] else m[0], text)


def bare(text):
    """The text with spaces for comments, strings and characters."""
    def hide(m):
        if m["comment"]:
            return blanked(m[0])
        return m[0][0] + blanked(m[0][1:-1]) + m[0][-1]
    return CODE.sub(hide, text)


def body_at(code, brace):
    """What stands between the brace at that offset and its partner."""
    depth = 0
    for at in range(brace, len(code)):
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return code[brace + 1:at]
    raise ValueError("a brace has no partner")


def statements(body):
    """Declarations at the top level of a class: each with its initializer or
    its inner block blanked, and whether a block ended it."""
    found, text, depth = [], "", 0
    for c in body:
        if c == "{":
            depth += 1
            if depth == 1:
                text += "{"
        elif c == "}":
            depth -= 1
            if depth == 0:
                text += "}"
                # A function's body ends it without a semicolon.
                if re.search(r"\)[\w\s&:<>,(){}]*\{\}$", text) and not (
                        "=" in text.split("(")[0]):
                    found.append(text)
                    text = ""
        elif depth == 0:
            if c == ";":
                found.append(text)
                text = ""
            else:
                text += c
    return [re.sub(r"\s+", " ", s).strip() for s in found]


LABEL = re.compile(r"^(?:(?:public|private|protected) ?: ?)+")
NO_MEMBER = re.compile(
    r"^(static|using|typedef|friend|enum|template|class \w+$|struct \w+$"
    r"|constexpr|explicit|virtual|operator)\b")


def data_members(body):
    """Names of the data members that a class's body declares, in order. A
    struct inside counts where a member is one of it, as one."""
    names = []
    for statement in statements(body):
        statement = LABEL.sub("", statement).strip()
        if not statement or NO_MEMBER.match(statement):
            continue
        inner = re.match(r"^(?:struct|class|union)\b[^{]*\{\}\s*(.*)$", statement)
        if inner:
            names += re.findall(r"\w+", re.sub(r"\{\}|=.*", "", inner[1]))
            continue
        declared = statement
        while re.search(r"<[^<>]*>", declared):
            declared = re.sub(r"<[^<>]*>", "", declared)
        declared = re.sub(r"=[^,(]*(\([^()]*\)[^,]*)?|\{\}", "", declared).strip()
        declared = re.sub(r"\[[^]]*\]|:\s*\d+", "", declared)
        if "(" in declared or "operator" in declared:
            continue
        first, *others = declared.split(",")
        names += [re.findall(r"\w+", part)[0] if n else
                  re.findall(r"\w+", part)[-1]
                  for n, part in enumerate([first, *others])]
    return names
