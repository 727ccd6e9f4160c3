"""The tree is the architecture: what a room keeps to itself, no other room touches."""

import ast
import pathlib

import askwhen

PACKAGE = pathlib.Path(askwhen.__file__).parent
OF_TUPLES = {"_replace", "_asdict", "_fields", "_make"}


def room_of(path):
    return path.relative_to(PACKAGE).parts[0]


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and name not in OF_TUPLES


def own_names(tree):
    """Names with an underscore that a file makes: functions, classes, and what it stores under self."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def trespasses():
    trees = {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}
    made = {}
    for path, tree in trees.items():
        made.setdefault(room_of(path), set()).update(own_names(tree))
    for path, tree in trees.items():
        elsewhere = {name for room, names in made.items() if room != room_of(path) for name in names}
        foreign = elsewhere - made[room_of(path)]
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr in foreign:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno} touches {node.attr}"
            if isinstance(node, ast.ImportFrom) and node.level:
                yield from (
                    f"{path.relative_to(PACKAGE)}:{node.lineno} imports {alias.name}"
                    for alias in node.names
                    if is_private(alias.name) and alias.name in foreign
                )


def test_no_room_touches_what_another_one_keeps_to_itself():
    assert list(trespasses()) == []


def test_the_search_sees_a_trespass(monkeypatch, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "made.py").write_text("class A:\n    def __init__(self):\n        self._hidden = 1\n")
    (tmp_path / "other.py").write_text("def f(a):\n    return a._hidden\n")
    monkeypatch.setattr(__import__(__name__, fromlist=["PACKAGE"]), "PACKAGE", tmp_path)
    assert list(trespasses()) == ["other.py:2 touches _hidden"]


def test_every_room_says_what_is_in_it():
    for room in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(room.read_text())), room
