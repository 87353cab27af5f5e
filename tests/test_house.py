"""The rules of the house: what each room may import, how long things are, what they are called."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import stepwell
from stepwell import errors

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "stepwell"
FILES = sorted(SOURCE.rglob("*.py"))
PURE = (
    *("errors", "scope", "parts", "about", "types", "constants", "warnings", "ids", "saves", "copies", "channels"),
    *("managed", "plan", "engine"),
)
WORLD = {
    "_thread", "apsw", "asyncio", "concurrent", "logging", "multiprocessing", "queue", "random", "secrets", "select",
    "signal", "socket", "sqlite3", "subprocess", "threading", "time",
}  # fmt: skip
OPTIONAL = {
    "cryptography", "grandalf", "langchain", "langchain_core", "numpy", "pydantic", "pydantic_core", "rich",
    "zstandard",
}  # fmt: skip
SHAPE_OF_OTHERS = {"StateGraph.add_node", "StateGraph.compile", "Pregel.__init__"}
"""Functions whose parameters are fixed by the code that calls them: users bring it along."""
NAMES_OF_OTHERS = {"IsLastStepManager", "RemainingStepsManager"}
CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if cls.__module__ == errors.__name__]
MAX_LINES, MAX_FUNCTION, MAX_PARAMETERS = 400, 60, 8

Function = ast.FunctionDef | ast.AsyncFunctionDef


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def place(path: Path, node: ast.stmt | None = None) -> str:
    shown = path.relative_to(ROOT).as_posix()
    return shown if node is None else f"{shown}:{node.lineno}"


def functions(path: Path) -> Iterator[tuple[str, Function]]:
    """Each function with its name as people would say it: Class.method."""

    def walk(node: ast.AST, names: tuple[str, ...]) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                yield ".".join((*names, child.name)), child
            own = (child.name,) if isinstance(child, Function | ast.ClassDef) else ()
            yield from walk(child, (*names, *own))

    return walk(tree_of(path), ())


def parameters(function: Function) -> int:
    """How many a caller sees."""
    given = function.args
    names = [arg.arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    stars = [star for star in (given.vararg, given.kwarg) if star is not None]
    return len(names) + len(stars) - (names[:1] in (["self"], ["cls"]))


def imported(node: ast.AST) -> list[str]:
    """The modules that an import statement names, in full."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def only_for_types(path: Path) -> set[ast.AST]:
    """The statements below `if TYPE_CHECKING:`, which never run."""
    return {
        inner
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }


def imports_at_the_top(path: Path, known: set[str]) -> Iterator[str]:
    """The modules that must have run for this file to run: of `from room import file`, the file."""
    for node in tree_of(path).body:
        names = [name for name in imported(node) if name in known]
        yield from names[1:] if isinstance(node, ast.ImportFrom) and len(names) > 1 else names


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class DescribeThePureZone:
    @pytest.mark.parametrize("room", PURE)
    def test_knows_no_thread_loop_clock_chance_socket_database_or_log(self, room):
        files = [path for path in FILES if path.relative_to(SOURCE).parts[0].removesuffix(".py") == room]
        assert files

        outside = [
            f"{place(path, node)} {name}"
            for path in files
            for node in ast.walk(tree_of(path))
            for name in imported(node)
            if name.partition(".")[0] in WORLD
        ]

        assert outside == []

    def test_reads_no_file_and_no_environment(self):
        calls = re.compile(r"(?<!\.)(?<!def )\b(open|print|input)\(|\bos\.|\bsys\.(argv|stdin|stdout)")

        found = [
            f"{place(path)}:{number}"
            for path in FILES
            if path.relative_to(SOURCE).parts[0].removesuffix(".py") in ("channels", "engine", "ids", "copies", "saves")
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if calls.search(line.partition("#")[0])
        ]

        assert found == []


class DescribeTheRooms:
    def test_import_only_from_rooms_below(self):
        checked = subprocess.run(
            [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()",
             "--no-cache"],
            cwd=ROOT, capture_output=True, text=True, timeout=50,
        )  # fmt: skip

        assert checked.returncode == 0, checked.stdout

    def test_are_packages_so_that_the_contract_sees_them(self):
        rooms = {path.parent for path in FILES}

        assert [place(room) for room in rooms if not (room / "__init__.py").exists()] == []

    def test_import_each_other_in_no_ring(self):
        known = {module_name(path) for path in FILES}
        links = {module_name(path): set(imports_at_the_top(path, known)) for path in FILES}
        done: set[str] = set()

        def visit(name: str, way: tuple[str, ...]) -> None:
            assert name not in way, " → ".join((*way[way.index(name) :], name))
            if name not in done:
                for target in links[name] - {name}:
                    visit(target, (*way, name))
                done.add(name)

        for name in links:
            visit(name, ())

    def test_hand_names_on_in_their_init_and_nothing_else(self):
        code = [
            place(path, node)
            for path in FILES
            if path.name == "__init__.py"
            for node in tree_of(path).body
            if isinstance(node, Function | ast.ClassDef | ast.For | ast.While | ast.With)
            and getattr(node, "name", "") != "__getattr__"
        ]

        assert code == []


class DescribeAFile:
    def test_has_at_most_400_lines(self):
        long = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}

        assert {name: lines for name, lines in long.items() if lines > MAX_LINES} == {}

    def test_says_in_its_first_line_what_it_is_about(self):
        silent = [place(path) for path in FILES if path.stat().st_size and not ast.get_docstring(tree_of(path))]

        assert silent == []

    def test_imports_inside_a_function_only_for_a_reason(self):
        without = []
        for path in FILES:
            lines = path.read_text(encoding="utf-8").splitlines()
            typing = only_for_types(path)
            for _, function in functions(path):
                for node in ast.walk(function):
                    if not (names := imported(node)) or node in typing:
                        continue
                    optional = names[0].partition(".")[0] in OPTIONAL
                    if not optional and "#" not in " ".join(lines[node.lineno - 1 : node.end_lineno]):
                        without.append(place(path, node))

        assert without == []

    def test_gives_a_reason_with_each_exception_from_a_check(self):
        ignore = re.compile(r"#\s*(type: ignore|noqa)(\[[^\]]*\]|: ?[A-Z0-9, ]+)?(?P<rest>.*)")
        bare = [
            f"{place(path)}:{number}"
            for path in FILES
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if (found := ignore.search(line)) and "#" not in found["rest"]
        ]

        assert bare == []


class DescribeAFunction:
    def test_has_at_most_60_lines(self):
        long = {
            f"{place(path)} {name}": node.end_lineno - node.lineno + 1
            for path in FILES
            for name, node in functions(path)
        }

        assert {name: lines for name, lines in long.items() if lines > MAX_FUNCTION} == {}

    def test_has_at_most_8_parameters(self):
        wide = {
            f"{place(path)} {name}": parameters(node)
            for path in FILES
            for name, node in functions(path)
            if name not in SHAPE_OF_OTHERS
        }

        assert {name: count for name, count in wide.items() if count > MAX_PARAMETERS} == {}


class DescribeNames:
    def test_say_what_a_thing_is(self):
        vague = re.compile(r"utils?$|helpers?$|manager$|misc$|^util|^helper", re.IGNORECASE)
        named = [
            (place(path, node), node.name)
            for path in FILES
            for node in ast.walk(tree_of(path))
            if isinstance(node, Function | ast.ClassDef)
        ]
        named += [(place(path), path.stem) for path in FILES]
        named += [(place(path), path.parent.name) for path in FILES]

        assert [pair for pair in named if vague.search(pair[1]) and pair[1] not in NAMES_OF_OTHERS] == []

    @pytest.mark.parametrize(
        "module",
        [info.name for info in pkgutil.walk_packages(stepwell.__path__, "stepwell.") if "__main__" not in info.name],
    )
    def test_in_all_are_there(self, module):
        found = importlib.import_module(module)

        assert [name for name in getattr(found, "__all__", ()) if not hasattr(found, name)] == []


class DescribeAnImport:
    @pytest.mark.parametrize("heavy", ["asyncio", "langchain_core", "pydantic", "ormsgpack", "apsw", "stepwell.serde"])
    def test_of_graphs_does_not_bring(self, heavy):
        assert heavy not in loaded_with_graphs()


class DescribeErrors:
    @pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
    def test_stand_in_the_tree_of_their_room(self, cls):
        assert re.search(rf"^[│├└─ ]*([A-Z]\w+, )*{cls.__name__}\b", errors.__doc__ or "", re.MULTILINE)

    @pytest.mark.parametrize(
        "cls", [cls for cls in CLASSES if issubclass(cls, errors.StepwellError)], ids=lambda cls: cls.__name__
    )
    def test_stand_below_the_class_they_are_made_of(self, cls):
        above = drawn_above()[cls.__name__]

        assert above is None or above == cls.__bases__[0].__name__

    def test_that_users_see_are_defined_in_one_room(self):
        elsewhere = [
            place(path, node)
            for path in FILES
            if path != SOURCE / "errors.py"
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Error") for base in node.bases)
        ]

        assert elsewhere == []


@cache
def loaded_with_graphs() -> set[str]:
    """The modules that a program has once it imported StateGraph."""
    shown = subprocess.run(
        [sys.executable, "-c", "import sys, stepwell.graph; print(*sys.modules)"],
        capture_output=True, text=True, timeout=50, check=True,
    )  # fmt: skip
    return set(shown.stdout.split())


def drawn_above() -> dict[str, str | None]:
    """{class: the class it hangs from in the drawing}."""
    above: dict[str, str | None] = {}
    way: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"(?P<lead>[│├└─ ]*)(?P<names>[A-Z]\w+(?:, [A-Z]\w+)*)(?:  |$)", line)
        if found is None:
            continue
        depth = len(found["lead"])
        way = [entry for entry in way if entry[0] < depth]
        names = found["names"].split(", ")
        for name in names:
            above[name] = way[-1][1] if way else None
        way.append((depth, names[0]))
    return above
