"""Files that a unity build compiles together share no name of their own.

CMAKE_UNITY_BUILD, with which what is installed is built, makes one file of many. What each of them hides in an unnamed namespace is then seen by all.
"""

import collections
import pathlib
import re

import cxx_text
import layers
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORD = re.compile(r"[A-Za-z_]\w*")


def unity_folders():
    """Those whose files are compiled together, and how many they have."""
    folders = {}
    for cmake in sorted((ROOT / "daemon").glob("*/CMakeLists.txt")):
        called = re.search(r"nanwatch_folder\(\s*(\w+)([\w\s]*?)SOURCES",
                           cmake.read_text())
        if called and "APART" not in called[2].split():
            folders[cmake.parent.name] = cmake.parent
    folders["client"] = ROOT / "client_lib/src"
    folders["word2vec"] = ROOT / "client_lib/examples/word2vec"
    return folders


def files_of(folder):
    """The files of a folder that are compiled together."""
    cmake = folder / "CMakeLists.txt"
    text = cmake.read_text() if cmake.exists() else ""
    apart = re.findall(r"set_source_files_properties\((\S+) PROPERTIES\s+"
                       r"SKIP_UNITY_BUILD_INCLUSION ON\)", text)
    return [p for p in sorted(folder.glob("*.cc")) if p.name not in apart]


def outside_angles(text):
    """The text with spaces for what stands between < and >."""
    out, depth = "", 0
    for c in text:
        depth += c == "<"
        out += " " if depth else c
        depth -= c == ">" and depth > 0
    return out


def name_of(head):
    """What a declaration declares; None: nothing that could be another's."""
    head = re.sub(r"\[\[.*?\]\]", " ", " ".join(head.split()))
    if re.match(r"(static_assert|using namespace|using enum|extern)\b", head):
        return None
    alias = re.match(r"(?:using|namespace) (\w+) =", head)
    if alias or head.startswith("using "):
        return alias and alias[1]
    plain = outside_angles(head.replace("<<", "  ")).split("=")[0]
    plain = re.sub(r"^\s*template\b", " ", plain)
    kind = re.match(
        r"\s*(?:struct|class|union|enum(?: class)?) +(\w+)(?: final)? *(:[^(]*)?$",
        plain)
    if kind:
        return kind[1]
    # A member of a class, defined outside of it, is its class's.
    declared = re.search(r"(:: *)?\b([A-Za-z_]\w*) *[(\[]", plain)
    if declared:
        return None if declared[1] or "operator" in plain else declared[2]
    words = WORD.findall(plain)
    return words[-1] if words else None


def declared(code, within):
    """Names that a file declares in namespaces: where `within` is "unnamed", in
    one without a name, else in others. Each with the text of its declaration up
    to its block."""
    code = re.sub(r"^[ \t]*#.*(?:\\\n.*)*", "", cxx_text.bare(code), flags=re.M)
    open_blocks, head = [], ""
    for c in code:
        if c == "}":
            open_blocks.pop()
            head = ""
        elif "block" in open_blocks:
            if c == "{":
                open_blocks.append("block")
        elif c not in "{;":
            head += c
        else:
            space = re.match(r"\s*(?:inline )?namespace\s*([\w:]*)\s*$", head)
            place = "unnamed" if "unnamed" in open_blocks else "named"
            if not space and place == within and head.strip():
                name = name_of(head)
                if name:
                    yield name, " ".join(head.split())
            if c == "{":
                open_blocks.append("block" if not space else
                                   "named" if space[1] else "unnamed")
            head = ""


def hidden(code):
    return declared(code, "unnamed")


def of_headers(folder):
    """Names that headers declare which files of a folder may include."""
    names = {}
    for other in sorted({folder} | layers.FOLDERS[folder][0]):
        for path in sorted((ROOT / "daemon" / other).glob("*.h")):
            names |= dict(declared(path.read_text(), "named"))
    return names


def is_alias(*texts):
    """The same one in each, which may be declared again."""
    return len(set(texts)) == 1 and re.match(r"(using|namespace) \w+ =",
                                             texts[0])


def shared(folder):
    """Names that several files of a folder hide, and where. The same alias may
    be declared again."""
    places = collections.defaultdict(dict)
    for path in files_of(folder):
        for name, text in hidden(path.read_text()):
            places[name][path.name] = text
    return {
        name: sorted(files) for name, files in places.items()
        if len(files) > 1 and not is_alias(*files.values())
    }


@pytest.mark.parametrize("folder", unity_folders())
def test_no_two_files_of_a_folder_hide_the_same_name(folder):
    assert shared(unity_folders()[folder]) == {}, (
        "rename one, or give them one home")


@pytest.mark.parametrize(
    "folder", [one for one in unity_folders() if one in layers.FOLDERS])
def test_no_file_hides_what_a_header_declares(folder):
    """Or the others would call that."""
    known = of_headers(folder)
    twice = [(path.name, name)
             for path in files_of(unity_folders()[folder])
             for name, text in hidden(path.read_text())
             if name in known and not is_alias(text, known[name])]
    assert twice == []


def test_a_type_has_a_name_of_its_own():
    """Of the two that are left no file sees both; the list may only shrink."""
    homes = collections.defaultdict(set)
    for path in (ROOT / "daemon").glob("*/*.h"):
        for kind in re.findall(r"^(?:struct|class|enum class) (\w+)\b[^;(<]*?\{",
                               cxx_text.bare(path.read_text()), re.M):
            homes[kind].add(path.name)
    assert {kind for kind, files in homes.items() if len(files) > 1} <= {
        "BadLoss", "Query"}


def test_hidden_names_are_seen():
    code = """
        namespace nanwatch {
        struct Seen { int kMember = 0; };
        namespace {
        using Json = nlohmann::json;
        namespace v1 = nanwatch::v1;
        constexpr int kOne = 1;
        constexpr std::pair<int, int (*)(int)> kTable[] = {{1, nullptr}};
        constexpr milliseconds kLook(50);
        std::map<std::string, int> table;
        template <typename T, size_t n = (1 << 2)>
        std::vector<T> Many(const T (&list)[n], Options options = {}) {
          int kLocal = 0;
          return {};
        }
        enum class Kind : uint8_t { kA };
        class Reader final : public LineReader { void Read(); };
        void Reader::Read() {}
        }  // namespace
        void Open() {}
        }  // namespace nanwatch
    """
    assert [name for name, _ in hidden(code)] == [
        "Json", "v1", "kOne", "kTable", "kLook", "table", "Many", "Kind",
        "Reader"]
