"""Generates one Python function per rule, in the form that its verb asks for.

| verb | function | what it calls |
|---|---|---|
| default | `rule(roots…, object, item, parent) -> value or OMIT` | – |
| validate | `rule(roots…, report)` | `report(path, at, message, value, known, hint)` for each finding |
| decide | `fn_<decision>(parameters…) -> value` | `failed(rule, error)` |
| generate | `rule(roots…, emit)` | `emit(object, loop, owner)` for each object |
| condition, status, event, requeue, delete, wait | `rule(roots…, emit)` | `emit(result)` |

Rules of the last two rows whose outermost loop runs over the slices of the input take `loop` besides, and go through `loop(items)`.

A patch has no function: it is written into each rule whose objects it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from grove_compiler.engine.codegen.block import Block
from grove_compiler.engine.codegen.patch_codegen import PatchCodegen
from grove_compiler.engine.codegen.rule_function import RuleFunction, Surroundings
from grove_compiler.engine.expressions import model_types
from grove_compiler.engine.expressions.scope import Code, variable
from grove_compiler.engine.language.place import SourceLocation
from grove_compiler.engine.language.rule import Rule, as_expression, find_field
from grove_compiler.engine.language.template_ast import Expression, Field, Literal, MapNode, TemplateNode
from grove_compiler.graph.nearest import nearest
from grove_compiler.graph.node import ObjectRef

_MANIFEST = dict[str, Any]


class RuleCodegen:
    """Generates the functions of rules."""

    def __init__(self, around: Surroundings, counted: bool = False) -> None:
        self.around = around
        self.counted = counted

    def write(self, rule: Rule, patches: Sequence[Rule]) -> Block:
        """Writes the function of a rule, with the patches that apply to its results. Patches themselves have none."""
        function = RuleFunction(self.around, rule)
        declared = {"default": self._default, "validate": self._validate, "decide": self._decide}
        runs: dict[str, Callable[[RuleFunction, Sequence[Rule]], None]] = {
            "generate": self._generate, "condition": self._condition, "status": self._status, "event": self._event,
            "requeue": self._requeue, "delete": self._delete, "wait": self._wait,
        }  # fmt: skip
        if rule.verb in declared:
            declared[rule.verb](function)
        elif rule.verb in runs:
            function.enter_rule("emit")
            runs[rule.verb](function, patches)
        return function.block

    # -- what is declared ------------------------------------------------------------------------------------------------------

    def _default(self, function: RuleFunction) -> None:
        """Writes a function that returns a field's default."""
        rule = function.rule
        roots = self.around.vocabulary.in_scope([])
        function.bind({**roots, "object": _MANIFEST, "item": _MANIFEST, "parent": _MANIFEST})
        function.enter_rule("v_object, v_item, v_parent", "return OMIT")
        value = function.tree(self.around.resolver.parse(rule.keys["value"], rule.at("value")))
        function.block.add(f"return {value.python}", rule.at("value"))

    def _validate(self, function: RuleFunction) -> None:
        """Writes a function that reports a finding wherever the assertion does not hold."""
        rule, block = function.rule, function.block
        function.enter_rule("report")
        holds = "".join(f"{function.code(part).python} and{function.block.mark(part.at)}" for part in rule.expressions("assert"))
        block.open(f"if not ({holds}True):", rule.at("assert"))
        parts = {key: function.text(key) for key in ("path", "at", "message")}
        parts |= {"value": function.bare("value"), "known": function.bare("known"), "hint": function.text("hint")}
        arguments = "".join(f"{python},{function.block.mark(rule.at(key))}" for key, python in parts.items())
        block.add(f"report({arguments})")

    def _decide(self, function: RuleFunction) -> None:
        """Writes a decision, which the model and other rules call by name.

        It is called often, so it is a plain function that catches its own failures, without a wrapper around it.
        """
        rule, block = function.rule, function.block
        signature = self.around.vocabulary.decisions.get(rule.decision)
        if signature is None:
            return  # reported by `check_decisions`
        parameters = model_types.parameters(signature, self.around.vocabulary.words)
        function.bind(parameters)
        block.open(f"def fn_{rule.decision}({', '.join(map(variable, parameters))}):")
        block.open("try:")
        function.enter("")
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
        block.add(f" failed({rule.id!r}, error)")

    # -- what runs -------------------------------------------------------------------------------------------------------------

    def _generate(self, function: RuleFunction, patches: Sequence[Rule]) -> None:
        """Writes a function that renders objects from a template, changed by the patches that apply."""
        rule, block = function.rule, function.block
        node, owner = self._template(rule), "None"
        if function.traced:
            block.add(f"if skips(): {'continue' if function.depth else 'return'}")
        if "owner" in rule.keys:
            (expression,) = rule.expressions("owner")
            code = function.code(expression, expected=ObjectRef)
            block.add(f"owner = {function.templates.named('owner', code.python, expression)}", expression.at)
            function.scope, owner = function.scope.with_name("owner", Code("owner", ObjectRef, code.depth)), "owner"
        self._render(function, self._owned(rule, node) if node else None, patches)
        if rule.source.metered and not function.traced:
            block.add("o = identified(o)", rule.at("generate"))
        block.add(f"emit(o, {function.positions}, {owner}{self._yields(function)})", rule.at("generate"))

    def _yields(self, function: RuleFunction) -> str:
        """Returns the Python of the argument that says whether an object yields fields; nothing for a rule whose objects are all alike."""
        policy = function.rule.keys.get("policy") or {}
        if "yieldWhen" not in policy:
            return ""
        at = function.rule.at("policy")
        return f", bool({self._expression(function, policy, 'yieldWhen', at)})"

    def _condition(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """Writes a function that emits a status condition from the first case that holds."""
        rule, block = function.rule, function.block
        self._ref(function, "of")
        for number, case in enumerate(rule.keys["cases"]):
            at = rule.at("cases", number)
            texts = [function.written(case[key], at.below(key)) for key in ("status", "reason", "message")]
            test = self._expression(function, case, "when", at) if "when" in case else "True"
            block.add(f"{'elif' if number else 'if'} {test}:", at)
            block.add(f" emit(StatusCondition(ref, {str(rule.keys['condition'])!r}, {', '.join(texts)}, {rule.id!r}))", at)

    def _status(self, function: RuleFunction, patches: Sequence[Rule]) -> None:
        """Writes a function that renders status fields from a template, changed by the patches that apply."""
        self._ref(function, "of")
        self._render(function, self._template(function.rule), patches)
        function.block.add(f"emit(StatusPatch(ref, o, {function.rule.id!r}, {function.positions}))", function.rule.at("status"))

    def _event(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """Writes a function that emits an event, under a name that distinguishes it from all other occurrences."""
        rule, block = function.rule, function.block
        self._ref(function, "of")
        block.add(f"message = {function.text('message')}", rule.at("message"))
        block.add(f"once = {function.text('dedupKey') if 'dedupKey' in rule.keys else 'message'}", rule.at("dedupKey"))
        parts = [function.text("event"), function.text("reason"), "message", f"event_name(ref, {rule.id!r}, once)", repr(rule.id)]
        block.add(f"emit(Event(ref, {', '.join(parts)}))", rule.at("reason"))

    def _requeue(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """Writes a function that emits the time of a requeue, where there is one."""
        function.block.add(f"x = {function.bare('requeue', float)}", function.rule.at("requeue"))
        function.block.add("if x is not None: emit(x)")

    def _delete(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """Writes a function that emits an object to delete."""
        rule = function.rule
        self._ref(function, "delete")
        reason = f"{function.text('reason')},{function.block.mark(rule.at('reason'))}"
        how = f"{rule.keys.get('attributed', True)!r}, {rule.keys.get('despiteFailures', False)!r}"
        function.block.add(f"emit(RequestedDeletion(ref, {reason}{rule.id!r}, {function.positions}, {how}))")

    def _wait(self, function: RuleFunction, _: Sequence[Rule]) -> None:
        """Writes a function that emits what an object waits for."""
        rule, block = function.rule, function.block
        self._ref(function, "of")
        block.add(f"on = {function.bare('for', ObjectRef)}", rule.at("for"))
        block.add(f"since = {function.bare('since', float)}", rule.at("since"))
        texts = [f"{function.text(key)},{block.mark(rule.at(key))}" for key in ("message", "resolve")]
        block.add(f"emit(ObjectWait(ref, {str(rule.keys['wait'])!r}, {''.join(texts)}since, on, {rule.id!r}))")

    # -- parts of verbs --------------------------------------------------------------------------------------------------------

    def _expression(self, function: RuleFunction, case: dict[str, Any], key: str, at: SourceLocation, expected: Any = Any) -> str:
        """Returns the Python of an expression in a case."""
        return function.code(Expression(as_expression(case[key]), (*at.path, key), at.below(key)), expected=expected).python

    def _ref(self, function: RuleFunction, key: str) -> None:
        """Assigns the object that a result is about to `ref`."""
        function.block.add(f"ref = {function.bare(key, ObjectRef)}", function.rule.at(key))

    def _template(self, rule: Rule) -> TemplateNode | None:
        """Returns the parsed template that a rule renders; reports a missing or unsuitable one and returns None."""
        templates = self.around.resolver.templates
        is_status = rule.verb == "status"
        usable = {name: template for name, template in templates.items() if not template.is_part and template.is_status == is_status}
        if rule.template in usable:
            template = usable[rule.template]
            return self.around.resolver.parse(template.value, SourceLocation(template.source, ())) if template.usable else None
        message = f"there is no template {rule.template!r}"
        if rule.template in templates:
            message = f"{rule.template!r} is no template for `{rule.verb}`: statuses stand below templates/status/, and parts are included"
        rule.source.fail((rule.verb,), message, nearest(rule.template, usable))
        return None

    def _render(self, function: RuleFunction, node: TemplateNode | None, patches: Sequence[Rule]) -> None:
        """Assigns the rendered template to `o`, then applies the patches to it."""
        if node is None:
            return
        function.block.add(f"o = {function.tree(node).python}", function.rule.at(function.rule.verb))
        for patch in patches:
            PatchCodegen(self.around, patch, self.counted).write(function)

    def _owned(self, rule: Rule, node: TemplateNode) -> TemplateNode:
        """Returns the template with `metadata.ownerReferences` added, where the rule names an owner."""
        metadata = find_field(node, "metadata")
        if "owner" not in rule.keys or metadata is None or not isinstance(metadata.value, MapNode) or not isinstance(node, MapNode):
            return node
        path, at = metadata.path, rule.at("owner")
        references = Expression("owner_references(owner) or omit", path, at, label=str(rule.keys["owner"]))
        owner_field = Field(Literal("ownerReferences", path, at), references, path, metadata.at)
        with_owner = replace(metadata.value, entries=[*metadata.value.entries, owner_field])
        return replace(node, entries=[replace(metadata, value=with_owner) if entry is metadata else entry for entry in node.entries])
