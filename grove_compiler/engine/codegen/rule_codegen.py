"""Rules to Python: one function a rule, named after its position, in the shape that its verb asks for.

| verb | function | what it calls |
|---|---|---|
| default | `rule(roots…, object, item, parent) -> value or OMIT` | – |
| validate | `rule(roots…, report)` | `report(rule, path, at, message, value, known, hint)` for each finding |
| generate | `rule(roots…, emit)` | `emit(rule, object, loop, owner)` for each object |
| condition | `rule(roots…, report)` | `report(rule, object, status, reason, message)` |

Rules of the last two verbs whose outermost loop runs over the slices of the input take `loop` besides, and go through `loop(items)`.

A patch has no function: it is written into each rule whose objects it changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grove_compiler.engine.codegen.module_codegen import ModuleWriter
from grove_compiler.engine.codegen.patch_codegen import PatchWriter
from grove_compiler.engine.codegen.template_codegen import Block, ShapeWriter
from grove_compiler.engine.codegen.trace_codegen import traced_condition, traced_items, traced_name
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression import ExpressionCompiler, named, variable
from grove_compiler.engine.expressions.expression_syntax import Code, ExpressionError, names_in
from grove_compiler.engine.expressions.scope import Name, Scope
from grove_compiler.engine.language.rule import Rule, Template
from grove_compiler.engine.language.template_ast import Bare, Field, Literal, MapShape, Shape, parse_shape
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.graph.field_path import FieldPath
from grove_compiler.graph.nearest import nearest
from grove_compiler.graph.node import ObjectRef

_LAZIES = "\0lazies "


class RuleWriter:
    """Writes one rule after another into a module."""

    def __init__(self, vocabulary: Vocabulary, module: ModuleWriter, traced: bool = False, counted: bool = False) -> None:
        self.compilers = {metered: ExpressionCompiler(vocabulary, metered) for metered in (False, True)}
        self.vocabulary = vocabulary
        self.module = module
        self.traced = traced
        self.counted = counted
        self.parameters = ", ".join(variable(word) for word in vocabulary.words)

    def write(self, index: int, rule: Rule, templates: dict[str, Template], patches: Sequence[Rule]) -> None:
        """The function of the rule at this position; its name is `rule_<index>`."""
        writer = _RuleFunction(self, index, rule)
        if rule.verb == "default":
            writer.default()
        elif rule.verb == "validate":
            writer.validate()
        elif rule.verb == "generate":
            writer.generate(templates, patches)
        elif rule.verb == "condition":
            writer.condition()


class _RuleFunction:
    """The function of one rule, from its head to its last line."""

    def __init__(self, writer: RuleWriter, index: int, rule: Rule) -> None:
        self.compilers = writer.compilers
        self.compiler = writer.compilers[rule.source.metered]
        self.module = writer.module
        self.rule = rule
        self.index = index
        self.shapes = ShapeWriter(self.compiler, rule.source, writer.traced, rule.id)
        self.traced = writer.traced
        self.counted = writer.counted
        self.sliced = not writer.traced and rule.is_sliced(writer.vocabulary)
        self.parameters = writer.parameters
        self.block = Block(writer.module, indent=1)
        self.depth = 0
        update = rule.verb == "validate" and rule.words("validate") == ["update"]
        roots = writer.vocabulary.in_scope(rule.about(writer.vocabulary.subjects), update)
        self.scope = Scope({word: named(word, kind, 0) for word, kind in roots.items()})
        self.whens = [(Bare(text, path), path) for text, path in _listed(rule, "when")]
        self.lets = [(name, Bare(text, ("let", name))) for name, text in rule.named("let").items()]
        self.lets += [(name, Bare(text, ("with", name))) for name, text in rule.named("with").items()]

    # -- the four verbs ------------------------------------------------------------------------------------------------------

    def default(self) -> None:
        """A value for a field of a manifest."""
        any_map = dict[str, Any]
        self.scope = Scope(
            {
                **self.scope.names,
                "object": named("object", any_map, 0),
                "item": named("item", any_map, 0),
                "parent": named("parent", any_map, 0),
            }
        )
        self._enter(f"{self.parameters}, v_object, v_item, v_parent", "return OMIT")
        value = self._shape("value")
        self.block.add(f"return {value.python}{self._mark(('value',))}")
        self._leave()

    def validate(self) -> None:
        """Findings about the input."""
        self._enter(f"{self.parameters}, report", "return")
        holds = "".join(f"{self._code(Bare(text, path)).python} and{self._mark(path)}" for text, path in _listed(self.rule, "assert"))
        self.block.add(f"if not ({holds}True):{self._mark(('assert',))}")
        self.block.indent += 1
        texts = {key: self._text(key) for key in ("path", "at", "message", "hint")}
        parts = {**texts, "value": self._bare("value"), "known": self._bare("known")}
        order = ("path", "at", "message", "value", "known", "hint")
        marked = "".join(f"{parts[key]},{self._mark((key,))}" for key in order)
        self.block.add(f"report({self.index}, {marked})")
        self._leave()

    def generate(self, templates: dict[str, Template], patches: Sequence[Rule]) -> None:
        """Objects from a template, changed by the patches that apply."""
        self._enter(f"{self.parameters}, emit{', loop' * self.sliced}", "return")
        name = self.rule.keys["generate"]
        template = templates.get(name)
        if template is None:
            self.rule.source.fail(("generate",), f"there is no template {name!r}", nearest(name, templates))
            return
        if not template.usable:
            return
        if self.traced:
            self.block.add(f"if skips(): {'continue' if self.depth else 'return'}")
        shape, owner = self._owned(template), "None"
        if "owner" in self.rule.keys:
            expression = Bare(str(self.rule.keys["owner"]), ("owner",))
            code = self._code(expression)
            python = traced_name("owner", code.python, expression) if self.traced else code.python
            self.block.add(f"owner = {python}{self._mark(('owner',))}")
            self.scope, owner = self.scope.with_name("owner", Name("owner", ObjectRef, code.depth)), "owner"
        shapes = ShapeWriter(self.compilers[template.source.metered], template.source, self.traced, self.rule.id)
        made = shapes.write(shape, self.scope, self.block, self.depth)
        self.block.add(f"o = {made.python}{self._mark(('generate',))}")
        for patch in patches:
            compiler = self.compilers[patch.source.metered]
            PatchWriter(compiler, patch, self.traced, self.counted).write(self.rule, self.scope, self.block, self.depth)
        loop = "(" + "".join(f"i{depth}, " for depth in range(1, self.depth + 1)) + ")"
        self.block.add(f"emit({self.index}, o, {loop}, {owner}){self._mark(('generate',))}")
        self._leave()

    def condition(self) -> None:
        """A status condition: the first case that holds."""
        self._enter(f"{self.parameters}, report{', loop' * self.sliced}", "return")
        self.block.add(f"ref = {self._bare('of')}{self._mark(('of',))}")
        for number, case in enumerate(self.rule.keys["cases"]):
            self._case(case, ("cases", number), "if" if number == 0 else "elif")
        self._leave()

    def _case(self, case: dict[str, Any], path: FieldPath, word: str) -> None:
        texts = [self._written(case[key], (*path, key)) for key in ("status", "reason", "message")]
        test = self._code(Bare(str(case.get("when", True)), (*path, "when"))).python
        self.block.add(f"{word} {test}:{self._mark(path)}")
        self.block.add(f" report({self.index}, ref, {', '.join(texts)}){self._mark(path)}")

    # -- loops, guards and names -----------------------------------------------------------------------------------------------

    def _enter(self, parameters: str, leave: str) -> None:
        """The head of the function, its loops, and at each depth the guards and names that can be evaluated there."""
        self.head = f"def rule_{self.index}({parameters}):"
        self._start_depth(leave)
        for word, text in self.rule.named("forEach").items():
            self._loop(word, Bare(text, ("forEach", word)))
            self._start_depth("continue")
        for expression, _ in self.whens:
            self._code(expression)  # names that nothing binds: reported here
        for word, expression in self.lets:
            self._code(expression)
            self.scope = self.scope.with_name(word, named(word, Any, self.depth))  # so that its uses are not reported as well

    def _start_depth(self, leave: str) -> None:
        self.block.add(f"{_LAZIES}{self.depth}")
        progress = True
        while progress:
            progress = self._take_whens(leave) or self._take_let()

    def _take_whens(self, leave: str) -> bool:
        ready = [when for when in self.whens if self._is_ready(when[0])]
        for when in ready:
            self.whens.remove(when)
            code = self._code(when[0])
            self.block.add(f"if not {self._condition(when[0], code.python)}: {leave}{self._mark(when[1])}")
        return bool(ready)

    def _take_let(self) -> bool:
        for entry in self.lets:
            word, expression = entry
            if self._is_ready(expression):
                self.lets.remove(entry)
                code = self._code(expression, may_omit=True)
                name = Name(variable(word), code.type, self.depth, code.may_omit)
                if word in self.scope.names and code.python != name.python:  # hides a name that outer parts still need
                    name.python = self.module.fresh(f"{name.python}_")
                if code.python != name.python:
                    python = traced_name(word, code.python, expression) if self.traced else code.python
                    self.block.add(f"{name.python} = {python}{self._mark(expression.path)}")
                    self.scope = self.scope.with_name(word, name)
                return True
        return False

    def _is_ready(self, expression: Bare) -> bool:
        try:
            words = names_in(expression.expression)
        except ExpressionError:
            return True  # reported when it is written
        known = self.scope.names.keys() | (self.compiler.functions.keys() | {"omit"}) - {word for word, _ in self.lets}
        return words <= known

    def _loop(self, word: str, expression: Bare) -> None:
        if word in self.scope.names:
            self.rule.source.fail(expression.path, f"the loop's name {word!r} hides a name that is already in use")
        code = self._code(expression)
        if not types.is_loopable(code.type):
            self.rule.source.fail(expression.path, f"cannot loop over `{expression.expression}`: it is not a list")
        self.depth += 1
        certain = code.type is not Any and not types.is_optional(code.type)
        iterable = traced_items(word, code.python, expression) if self.traced else code.python if certain else f"each({code.python})"
        name = named(word, types.item_type(code.type), self.depth)
        positions = f"loop(lambda: {iterable})" if self.sliced and self.depth == 1 else f"enumerate({iterable})"
        self.block.add(f"for i{self.depth}, {name.python} in {positions}:{self._mark(expression.path)}")
        self.block.indent += 1
        self.scope = self.scope.with_name(word, name)

    def _leave(self) -> None:
        """Writes the finished function into the module, with the names of lazy parts declared where their depth begins."""
        self.module.add(0, self.head)
        for line in self.block.lines:
            marker = line.strip(" ")
            if not marker.startswith(_LAZIES):
                self.module.lines.append(line)
                continue
            names = [name for depth, name in self.block.lazies if depth == int(marker.removeprefix(_LAZIES))]
            if names:
                self.module.lines.append(line[: len(line) - len(marker)] + " = ".join([*names, "None"]))
        self.module.add(1, "return")

    # -- expressions -----------------------------------------------------------------------------------------------------------

    def _owned(self, template: Template) -> Shape:
        """The template with `metadata.ownerReferences`, where the rule names an owner."""
        metadata = template.field("metadata")
        if "owner" not in self.rule.keys or metadata is None or not isinstance(metadata.value, MapShape):
            return template.shape
        path = metadata.path
        said = (self.rule.source.file, self.rule.source.line(("owner",)), str(self.rule.keys["owner"]))
        references = Field(Literal("ownerReferences", path), Bare("owner_references(owner) or omit", path, said), path)
        with_owner = MapShape([*metadata.value.entries, references], metadata.value.lets, metadata.value.condition, path)
        entries = [Field(metadata.key, with_owner, path) if e is metadata else e for e in template.shape.entries]
        return MapShape(entries, template.shape.lets, template.shape.condition, template.shape.path)

    def _mark(self, path: FieldPath) -> str:
        return self.module.mark((self.rule.source.file, self.rule.source.line(path)))

    def _code(self, expression: Bare, may_omit: bool = False) -> Code:
        translate = self.compiler.expression if may_omit else self.compiler.value
        try:
            return translate(expression.expression, self.scope)
        except ExpressionError as error:
            self.rule.source.fail(expression.path, str(error), error.suggestion)
            return Code("None")

    def _condition(self, expression: Bare, python: str) -> str:
        """A `when` of the rule, which was compiled to `python`."""
        if not self.traced or self.rule.source.broken:
            return python
        place = (self.rule.source.file, self.rule.source.line(expression.path))
        return traced_condition(self.compiler, expression.expression, self.scope, self.rule.id, place)

    def _bare(self, key: str) -> str:
        return self._code(Bare(str(self.rule.keys[key]), (key,))).python if key in self.rule.keys else "None"

    def _text(self, key: str) -> str:
        return self._written(self.rule.keys.get(key, ""), (key,))

    def _written(self, value: Any, path: FieldPath) -> str:
        """A key that holds text: whatever it evaluates to is turned into text."""
        try:
            code = self.compiler.text(value if isinstance(value, str) else str(value), self.scope)
            if code.may_omit:
                raise ExpressionError("`omit` cannot be text")
        except ExpressionError as error:
            self.rule.source.fail(path, str(error), error.suggestion)
            return "''"
        return code.python if code.type is str else f"as_text({code.python})"

    def _shape(self, key: str) -> Code:
        shape = parse_shape(self.rule.keys[key], (key,), self.rule.source.fail)
        return self.shapes.write(shape, self.scope, self.block, self.depth)


def _listed(rule: Rule, key: str) -> list[tuple[str, FieldPath]]:
    """The expressions of a key that holds one or a list, each with its path."""
    many = isinstance(rule.keys.get(key), list)
    return [(text, (key, index) if many else (key,)) for index, text in enumerate(rule.expressions(key))]
