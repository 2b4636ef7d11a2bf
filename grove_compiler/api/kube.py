"""What the API's types are declared with: a base model, the marks of a CustomResourceDefinition, Kubernetes' scalar types.

A field's docstring becomes its description in the CRD. What JSON Schema cannot say (list-maps, durations, references to
Kubernetes' own types) is said by a `Structure` mark, in the words of `grove_compiler.kube.structure`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from grove_compiler.record import record

GROVE = "grove.io/v1alpha1"
SCHEDULER = "scheduler.grove.io/v1alpha1"
CONFIGURATION = "operator.config.grove.io/v1alpha1"

Reason = Literal["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"]


@dataclass(frozen=True, slots=True)
class Cel:
    """One rule of `x-kubernetes-validations`; `field_path` says where below the object the error is reported."""

    rule: str
    message: str
    reason: Reason = "FieldValueInvalid"
    field_path: str = ""
    optional_old_self: bool = False

    def manifest(self) -> dict[str, Any]:
        """Returns the rule as a CRD holds it; what equals the API server's default is left out."""
        keys: dict[str, Any] = {"rule": self.rule, "message": self.message}
        if self.reason != "FieldValueInvalid":
            keys["reason"] = self.reason
        if self.field_path:
            keys["fieldPath"] = self.field_path
        if self.optional_old_self:
            keys["optionalOldSelf"] = True
        return keys


@dataclass(frozen=True, slots=True)
class Column:
    """A column of `kubectl get`; those of priority 1 show only with `-o wide`."""

    name: str
    path: str
    type: Literal["string", "integer", "date"] = "integer"
    priority: int = 0


AGE = Column("Age", ".metadata.creationTimestamp", "date")


@dataclass(frozen=True, slots=True)
class Crd:
    """How a kind is served: names, scope, columns, subresources. `selector` is the scale subresource's; without it there is none."""

    plural: str
    short_names: tuple[str, ...]
    columns: tuple[Column, ...]
    scope: Literal["Namespaced", "Cluster"] = "Namespaced"
    status: bool = True
    selector: str = ""


@record
class Structure:
    """Keys for the structural table of an annotated type; a `kind` or `ref` among them replaces what its JSON Schema says."""

    keys: dict[str, Any]

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(core_schema), "structure": self.keys}


class Kube(BaseModel):
    """Base of all types: camelCase on the wire, no unknown fields.

    Types declare and judge nothing: what is checked is the table that is made of them, because that costs no import of pydantic, knows the
    line of every value, and is what the CRD says. A second judge beside it (validators here) only had to be kept in step.
    """

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", use_attribute_docstrings=True)
    package: ClassVar[str] = GROVE
    """What stands before the type's name in the table of definitions."""
    type_name: ClassVar[str] = ""
    """The type's name in that table, where it is not the class's; for types that share their name with another."""
    rules: ClassVar[tuple[Cel, ...]] = ()
    """What must hold across the fields of the type; the API server evaluates them."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Returns JSON Schema with the name of the definition and the CEL rules, which `api.tables` and `api.openapi` read."""
        schema = handler(core_schema)
        target = handler.resolve_ref_schema(schema)
        target["definition"] = f"{cls.package}.{cls.type_name or cls.__name__}"
        if cls.rules:
            target["validations"] = [rule.manifest() for rule in cls.rules]
        return schema


def list_map(*keys: str) -> Structure:
    """Marks a list in which no two items have equal `keys` (JSON names) and which server-side apply merges by them."""
    return Structure({"keys": list(keys)})


Int32 = Annotated[int, Field(ge=-(2**31), le=2**31 - 1), Structure({"bits": 32})]
Duration = Annotated[str, Structure({"kind": "duration"})]
"""A metav1.Duration: `4h`, `1h30m`."""
Time = Annotated[str, Structure({"kind": "time"})]
"""A metav1.Time: RFC 3339."""
Labels = dict[str, str]

PodSpec = Annotated[dict[str, Any], Structure({"ref": "core/v1.PodSpec"})]
"""Opaque to the models: a new Kubernetes field never needs a release of Grove. The CRD and the tables spell it out."""
MetricSpec = Annotated[dict[str, Any], Structure({"ref": "autoscaling/v2.MetricSpec"})]
ResourceClaimTemplateSpec = Annotated[dict[str, Any], Structure({"ref": "resource.k8s.io/v1.ResourceClaimTemplateSpec"})]


Resources = Annotated[dict[str, Any], Structure({"ref": "core/v1.ResourceRequirements"})]
SecurityContext = Annotated[dict[str, Any], Structure({"ref": "core/v1.SecurityContext"})]
