"""Rules to Python: one function a rule, named after its position, in the form that its verb asks for.

| verb | function | what it calls |
|---|---|---|
| default | `rule(roots…, object, item, parent) -> value or OMIT` | – |
| validate | `rule(roots…, report)` | `report(rule, path, at, message, value, known, hint)` for each finding |
| decide | `fn_<decision>(parameters…) -> value` | `failed(rule, error)` |
| generate | `rule(roots…, emit)` | `emit(rule, object, loop, owner)` for each object |
| condition, status, event, again, delete, wait | `rule(roots…, emit)` | `emit(result)` |

Rules of the last two rows whose outermost loop runs over the slices of the input take `loop` besides, and go through `loop(items)`.

A patch has no function: it is written into each rule whose objects it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from grove_compiler.engine.codegen.patch_codegen import PatchCodegen
from grove_compiler.engine.codegen.rule_function import RuleFunction, Surroundings
from grove_compiler.engine.expressions import model_types
from grove_compiler.engine.expressions.scope import Code, variable
from grove_compiler.engine.language.place import Place
from grove_compiler.engine.language.rule import Rule, as_expression, find_field
from grove_compiler.engine.language.template_ast import Expression, Field, Literal, MapNode, TemplateNode
from grove_compiler.graph.nearest import nearest
from grove_compiler.graph.node import ObjectRef

_MANIFEST = dict[str, Any]


class RuleCodegen:
    """Writes one rule after another into a module."""

    def __init__(self, around: Surroundings, counted: bool = False) -> None:
        self.around = around
        self.counted = counted

    def write(self, index: int, rule: Rule, patches: Sequence[Rule]) -> None:
        """The function of the rule at this position, with the patches that apply to what it makes."""
        declared = {"default": self._default, "validate": self._validate, "decide": self._decide}
        runs: dict[str, Callable[[RuleFunction, Sequence[Rule]], None]] = {
            "generate": self._generate, "condition": self._condition, "status": self._status, "event": self._event,
            "again": self._again, "delete": self._delete, "wait": self._wait,
        }  # fmt: skip
        if rule.verb in declared:
            declared[rule.verb](RuleFunction(self.around, index, rule))
        elif rule.verb in runs:
            function = RuleFunction(self.around, index, rule)
            function.enter_rule("emit")
            runs[rule.verb](function, patches)
            function.leave()

    # -- what is declared ------------------------------------------------------------------------------------------------------

    def _default(self, function: RuleFunction) -> None:
        """A value for a field of a manifest."""
        rule = function.rule
        roots = self.around.vocabulary.in_scope([])
        function.bind({**roots, "object": _MANIFEST, "item": _MANIFEST, "parent": _MANIFEST})
        function.enter_rule("v_object, v_item, v_parent", "return OMIT")
        value = function.tree(self.around.resolver.parse(rule.keys["value"], rule.at("value")))
        function.block.add(f"return {value.python}", rule.at("value"))
        function.leave()

    def _validate(self, function: RuleFunction) -> None:
        """Findings about the input."""
        rule, block = function.rule, function.block
        function.enter_rule("report")
        holds = "".join(f"{function.code(part).python} and{function.block.mark(part.at)}" for part in function.listed("assert"))
        block.add(f"if not ({holds}True):", rule.at("assert"))
        block.indent += 1
        parts = {key: function.text(key) for key in ("path", "at", "message")}
        parts |= {"value": function.bare("value"), "known": function.bare("known"), "hint": function.text("hint")}
        arguments = "".join(f"{python},{function.block.mark(rule.at(key))}" for key, python in parts.items())
        block.add(f"report({function.index}, {arguments})")
        function.leave()

    def _decide(self, function: RuleFunction) -> None:
        """What the model and other rules ask for by name. It is called often, so there is nothing around the function itself."""
        rule, block = function.rule, function.block
        signature = self.around.vocabulary.decisions.get(rule.decision)
        if signature is None:
            return  # reported by `check_decisions`
        parameters = model_types.parameters(signature)
        function.bind(parameters)
        block.add("try:")
        block.indent += 1
        function.enter(f"fn_{rule.decision}({', '.join(map(variable, parameters))})", "")
        if self.counted:
            block.add(f"decided({rule.id!r})")
        cases = rule.keys.get("cases") or [{"value": rule.keys.get("value")}]
        for number, case in enumerate(cases):
            at = rule.at("cases", number) if "cases" in rule.keys else rule.at()
            guard = f"if {self._expression(function, case, 'when', at)}: " if "when" in case else ""
            value = self._expression(function, case, "value", at, model_types.result(signature))
            block.add(f"{guard}return {value}", at.below("value"))
        block.indent -= 1
        block.add("except FAILURES as error:")
        block.add(f" failed({function.index}, error)")
        function.leave()

    # -- what runs -------------------------------------------------------------------------------------------------------------

    def _generate(self, function: RuleFunction, patches: Sequence[Rule]) -> None:
        """Objects from a template, changed by the patches that apply."""
        rule, block = function.rule, function.block
        node, owner = self._template(rule), "None"
        if function.traced:
            block.add(f"if skips(): {'continue' if function.depth else 'return'}")
        if "owner" in rule.keys:
            (expression,) = function.listed("owner")
            code = function.code(expression, wanted=ObjectRef)
            block.add(f"owner = {function.templates.named('owner', code.python, expression)}", expression.at)
            function.scope, owner = function.scope.with_name("owner", Code("owner", ObjectRef, code.depth)), "owner"
        self._render(function, self._owned(rule, node) if node else None, patches)
        if rule.source.metered and not function.traced:
            block.add("o = identified(o)", rule.at("generate"))
        block.add(f"emit({function.index}, o, {function.positions}, {owner})", rule.at("generate"))

    def _condition(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """A status condition: the first case that holds."""
        rule, block = function.rule, function.block
        self._ref(function, "of")
        for number, case in enumerate(rule.keys["cases"]):
            at = rule.at("cases", number)
            texts = [function.written(case[key], at.below(key)) for key in ("status", "reason", "message")]
            test = self._expression(function, case, "when", at) if "when" in case else "True"
            block.add(f"{'elif' if number else 'if'} {test}:", at)
            block.add(f" emit(Condition(ref, {str(rule.keys['condition'])!r}, {', '.join(texts)}, {rule.id!r}))", at)

    def _status(self, function: RuleFunction, patches: Sequence[Rule]) -> None:
        """The rest of a status, from a template, changed by the patches that apply."""
        self._ref(function, "of")
        self._render(function, self._template(function.rule), patches)
        function.block.add(f"emit(StatusPatch(ref, o, {function.rule.id!r}, {function.positions}))", function.rule.at("status"))

    def _event(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """Something to tell people, under a name that tells it from all other occurrences."""
        rule, block = function.rule, function.block
        self._ref(function, "of")
        block.add(f"message = {function.text('message')}", rule.at("message"))
        block.add(f"once = {function.text('once') if 'once' in rule.keys else 'message'}", rule.at("once"))
        parts = [function.text("event"), function.text("reason"), "message", f"event_name(ref, {rule.id!r}, once)", repr(rule.id)]
        block.add(f"emit(Event(ref, {', '.join(parts)}))", rule.at("reason"))

    def _again(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """A time to look again, where there is one."""
        function.block.add(f"x = {function.bare('again', float)}", function.rule.at("again"))
        function.block.add("if x is not None: emit(x)")

    def _delete(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """An object that has to go."""
        rule = function.rule
        self._ref(function, "delete")
        reason = f"{function.text('reason')},{function.block.mark(rule.at('reason'))}"
        is_attributed = rule.keys.get("attributed", True)
        function.block.add(f"emit(Deletion(ref, {reason}{rule.id!r}, {function.positions}, {is_attributed!r}))")

    def _wait(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """What an object waits for."""
        rule, block = function.rule, function.block
        self._ref(function, "of")
        block.add(f"on = {function.bare('for', ObjectRef)}", rule.at("for"))
        block.add(f"since = {function.bare('since', float)}", rule.at("since"))
        texts = [f"{function.text(key)},{block.mark(rule.at(key))}" for key in ("message", "resolve")]
        block.add(f"emit(Wait(ref, {str(rule.keys['wait'])!r}, {''.join(texts)}since, on, {rule.id!r}))")

    # -- parts of verbs --------------------------------------------------------------------------------------------------------

    def _expression(self, function: RuleFunction, case: dict[str, Any], key: str, at: Place, wanted: Any = Any) -> str:
        """An expression of a case."""
        return function.code(Expression(as_expression(case[key]), (*at.path, key), at.below(key)), wanted=wanted).python

    def _ref(self, function: RuleFunction, key: str) -> None:
        """The object that a result is about."""
        function.block.add(f"ref = {function.bare(key, ObjectRef)}", function.rule.at(key))

    def _template(self, rule: Rule) -> TemplateNode | None:
        """The template that a rule renders; none when that is a mistake, which is reported."""
        templates = self.around.resolver.templates
        usable = {name: one for name, one in templates.items() if not one.is_part and one.is_status == (rule.verb == "status")}
        if rule.template in usable:
            template = usable[rule.template]
            return self.around.resolver.parse(template.value, Place(template.source, ())) if template.usable else None
        message = f"there is no template {rule.template!r}"
        if rule.template in templates:
            message = f"{rule.template!r} is no template for `{rule.verb}`: statuses stand below templates/status/, and parts are included"
        rule.source.fail((rule.verb,), message, nearest(rule.template, usable))
        return None

    def _render(self, function: RuleFunction, node: TemplateNode | None, patches: Sequence[Rule]) -> None:
        """Puts what becomes of a template, and of the patches that apply, into `o`."""
        if node is None:
            return
        function.block.add(f"o = {function.tree(node).python}", function.rule.at(function.rule.verb))
        for patch in patches:
            PatchCodegen(self.around, patch, self.counted).write(function)

    def _owned(self, rule: Rule, node: TemplateNode) -> TemplateNode:
        """The template with `metadata.ownerReferences`, where the rule names an owner."""
        metadata = find_field(node, "metadata")
        if "owner" not in rule.keys or metadata is None or not isinstance(metadata.value, MapNode) or not isinstance(node, MapNode):
            return node
        path, at = metadata.path, rule.at("owner")
        references = Expression("owner_references(owner) or omit", path, at, label=str(rule.keys["owner"]))
        entry = Field(Literal("ownerReferences", path, at), references, path, metadata.at)
        with_owner = replace(metadata.value, entries=[*metadata.value.entries, entry])
        return replace(node, entries=[replace(metadata, value=with_owner) if one is metadata else one for one in node.entries])
