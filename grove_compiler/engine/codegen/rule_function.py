"""Builds the Python function of one rule: its head, loops, guards and names, and the expressions of its keys."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from grove_compiler.engine.codegen.block import Block
from grove_compiler.engine.codegen.template_codegen import TemplateCodegen
from grove_compiler.engine.expressions import types
from grove_compiler.engine.expressions.expression import ExpressionCompiler
from grove_compiler.engine.expressions.expression_syntax import ExpressionError, names_in
from grove_compiler.engine.expressions.scope import Code, Scope, named, variable
from grove_compiler.engine.language.includes import Resolver
from grove_compiler.engine.language.keys import RUN_TIME_VERBS
from grove_compiler.engine.language.life import Life
from grove_compiler.engine.language.place import SourceLocation
from grove_compiler.engine.language.rule import Rule, as_expression
from grove_compiler.engine.language.template_ast import Expression, TemplateNode, Text
from grove_compiler.engine.sources import Vocabulary
from grove_compiler.record import record


@record
class FirstThatHolds(Expression):
    """Represents the first of several values whose conditions all hold: the transition that a life takes."""

    cases: list[tuple[str, list[Expression]]] = field(default_factory=list)


class Surroundings:
    """Holds what the functions of all rules share: the words that rules may use, parts and constants, whose lists and maps are `shared`."""

    def __init__(self, vocabulary: Vocabulary, resolver: Resolver, constants: dict[str, Any], traced: bool) -> None:
        self.vocabulary = vocabulary
        self.resolver = resolver
        self.shared = Block()
        self.constants = {word: self._constant(value) for word, value in constants.items()}
        self.traced = traced
        self.compilers = {metered: ExpressionCompiler(vocabulary, metered) for metered in (False, True)}
        self.parameters = ", ".join(variable(word) for word in vocabulary.root_names)

    def _constant(self, value: Any) -> Code:
        """Compiles a constant of the rules language."""
        python = self.shared.constant(value) if isinstance(value, list | dict) else repr(value)
        return Code(python, types.of_value(value), is_constant=True)


class RuleFunction:
    """Builds the function of one rule, from its head to its last line."""

    def __init__(self, around: Surroundings, rule: Rule) -> None:
        self.around = around
        self.compiler = around.compilers[rule.source.metered]
        self.rule = rule
        self.traced = around.traced and rule.verb != "decide"  # who asks for a decision is traced, so what it reads is known
        self.sliced = not around.traced and rule.is_sliced(around.vocabulary)
        self.block = Block()
        self.templates = TemplateCodegen(self.block, around.compilers, self.traced, rule.id)
        self.depth = 0
        update = rule.verb == "validate" and rule.list_of("validate") == ["update"]
        roots = around.vocabulary.in_scope(rule.about(around.vocabulary.subjects), update, rule.verb in RUN_TIME_VERBS)
        self.bind({} if rule.verb == "decide" else roots)
        self.whens = rule.conditions
        bound = [(key, name, text) for key in ("let", "with") for name, text in rule.named(key).items()]
        self.lets = [(name, Expression(text, (key, name), rule.at(key, name))) for key, name, text in bound]
        if rule.life is not None and rule.verb != "decide":
            self.lets += names_of_life(rule.life, rule)

    # -- loops, guards and names -----------------------------------------------------------------------------------------------

    def bind(self, roots: dict[str, Any]) -> None:
        """Sets the scope to the constants and these names, given with their types."""
        self.scope = Scope({**self.around.constants, **{word: named(word, kind, 0) for word, kind in roots.items()}})

    def enter(self, leave: str) -> None:
        """Opens the loops of the function, and at each depth the guards and names that can be evaluated there.

        A guard or a `let` is written as far out as its names allow, so that it is evaluated once for each value of the loops it uses.
        `leave` is the statement that ends a guard at depth 0 (`return`, or `return OMIT` for defaults).
        """
        self._start_depth(leave)
        for word, text in self.rule.named("forEach").items():
            self._loop(word, Expression(text, ("forEach", word), self.rule.at("forEach", word)))
            self._start_depth("continue")
        for expression in self.whens:
            self.code(expression)  # names that nothing binds: reported here
        for word, expression in self.lets:
            self._bound(expression)
            self.scope = self.scope.with_name(word, named(word, Any, self.depth))  # so that its uses are not reported as well

    def enter_rule(self, more: str, leave: str = "return") -> None:
        """Opens a function that takes the roots and then the parameters `more`, which depend on the verb."""
        self.block.open(f"def rule({self.around.parameters}, {more}{', loop' * self.sliced}):")
        self.enter(leave)

    @property
    def positions(self) -> str:
        """Returns the Python of a tuple with the positions of the loops."""
        return "(" + "".join(f"i{depth}, " for depth in range(1, self.depth + 1)) + ")"

    def _start_depth(self, leave: str) -> None:
        self.block.begin_level(self.depth)
        progress = True
        while progress:
            progress = self._take_whens(leave) or self._take_let()

    def _take_whens(self, leave: str) -> bool:
        ready = [when for when in self.whens if self._is_ready(when)]
        for when in ready:
            self.whens.remove(when)
            self.block.add(f"if not {self.templates.condition(when, self.scope)}: {leave}", when.at)
        return bool(ready)

    def _take_let(self) -> bool:
        for entry in self.lets:
            word, expression = entry
            if self._is_ready(expression):
                self.lets.remove(entry)
                self.templates.refuse_constant(word, expression, self.scope)
                code = self._bound(expression)
                name = Code(variable(word), code.type, self.depth, code.may_omit)
                if word in self.scope.names and code.python != name.python:  # hides a name that outer parts still need
                    name.python = self.block.fresh(f"{name.python}_")
                if code.python != name.python:
                    self.block.add(f"{name.python} = {self.templates.named(word, code.python, expression)}", expression.at)
                    self.scope = self.scope.with_name(word, name)
                return True
        return False

    def _bound(self, expression: Expression) -> Code:
        """Compiles what a name is bound to: of the first value whose conditions all hold, an empty text where there is none."""
        if not isinstance(expression, FirstThatHolds):
            return self.code(expression, may_omit=True)
        text = ""
        for value, conditions in expression.cases:
            tests = [f"({self.code(condition).python}){self.block.mark(condition.at)}" for condition in conditions]
            text += f"{value!r} if {' and '.join(tests) or 'True'} else "
        return Code(f"({text}'')", str, self.depth)

    def _is_ready(self, expression: Expression) -> bool:
        parts = [part for _, parts in expression.cases for part in parts] if isinstance(expression, FirstThatHolds) else [expression]
        try:
            words = {word for part in parts for word in names_in(part.text)}
        except ExpressionError:
            return True  # reported when it is written
        known = self.scope.names.keys() | (self.compiler.functions.keys() | {"omit"}) - {word for word, _ in self.lets}
        return words <= known

    def _loop(self, word: str, expression: Expression) -> None:
        if word in self.scope.names:
            expression.at.fail(f"the loop's name {word!r} hides a name that is already in use")
        iterable, kind = self.templates.items(word, expression, self.scope)
        self.depth += 1
        positions = f"loop(lambda: {iterable})" if self.sliced and self.depth == 1 else f"enumerate({iterable})"
        name = named(word, kind, self.depth)
        self.block.open(f"for i{self.depth}, {name.python} in {positions}:", expression.at)
        self.scope = self.scope.with_name(word, name)

    # -- expressions -----------------------------------------------------------------------------------------------------------

    def code(self, expression: Text | Expression, may_omit: bool = False, expected: Any = Any) -> Code:
        """Compiles an expression in the rule's current scope; reports mistakes at their place."""
        return self.templates.code(expression, self.scope, may_omit, expected)

    def bare(self, key: str, expected: Any = Any) -> str:
        """Returns the Python of a key that holds an expression; `None` when the key is absent."""
        return self.code(self.rule.expressions(key)[0], expected=expected).python if key in self.rule.keys else "None"

    def text(self, key: str) -> str:
        """Returns the Python of a key that holds text; an empty text when the key is absent."""
        return self.written(self.rule.keys.get(key, ""), self.rule.at(key))

    def written(self, value: Any, at: SourceLocation) -> str:
        """Returns the Python of text with expressions, whatever it evaluates to turned into text."""
        code = self.code(Text(str(value), at.path, at))
        if code.may_omit:
            at.fail("`omit` cannot be text")
        return code.python if code.type is str else f"as_text({code.python})"

    def tree(self, node: TemplateNode) -> Code:
        """Compiles a template, or a value with template keys, in the rule's current scope."""
        return self.templates.write(node, self.scope, self.depth)


def names_of_life(life: Life, rule: Rule) -> list[tuple[str, Expression]]:
    """Returns the names that the effects of a life have besides its own: `transition`, empty where none is taken, and `next`."""
    cases: list[tuple[str, list[Expression]]] = []
    for one in life.decided:
        conditions = [Expression(life.is_in(one.sources), one.path, rule.at(*one.path, "from"))]
        if one.at is not None:
            conditions.append(Expression(f"({one.at}) is not none and now >= ({one.at})", one.path, rule.at(*one.path, "at")))
        conditions += [Expression(as_expression(text), one.path, rule.at(*one.path, "when", step)) for step, text in enumerate(one.when)]
        cases.append((one.name, conditions))
    at = rule.at("transitions")
    words = "the first of the transitions that fires"
    return [
        ("transition", FirstThatHolds(words, ("transitions",), at, words, cases)),
        ("next", Expression(life.next_state, ("transitions",), at, "the state after the transition")),
    ]
