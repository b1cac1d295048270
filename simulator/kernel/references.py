"""A reference to the tables of a run, for compiled functions to pass to each other.

numba passes a named tuple by value: a call with a `World` has seven numbers for each of its tables, some
three hundred. That was only fast where each function was built into its callers, which made the kernel one
function, compiled several times over.
"""

from collections.abc import Callable
from typing import Any, cast

import numba
from llvmlite import ir
from numba import types
from numba.core.cgutils import alloca_once, gep_inbounds
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
)

from tapewise.simulator.kernel.tables import World


class Reference(types.Type):
    """The type of a reference to a named tuple of the type `named_tuple`."""

    def __init__(self, named_tuple: types.NamedTuple) -> None:
        self.named_tuple = named_tuple
        super().__init__(name=f"Reference({named_tuple})")


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager: Any, reference: Reference) -> None:
        pointer = manager.lookup(reference.named_tuple).get_data_type().as_pointer()
        super().__init__(manager, reference, pointer)


@infer_getattr
class _Fields(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:  # type: ignore[override]  # numba has no method
        fields = reference.named_tuple.fields
        return reference.named_tuple.types[fields.index(name)] if name in fields else None


@lower_getattr_generic(Reference)
def _load_field(context: Any, builder: ir.IRBuilder, reference: Reference, place: ir.Value, name: str) -> Any:
    number = reference.named_tuple.fields.index(name)
    model = context.data_model_manager[reference.named_tuple.types[number]]
    return model.load_from_data_pointer(builder, gep_inbounds(builder, place, 0, number))


@intrinsic
def _refer(_: Any, world: types.NamedTuple) -> tuple[Any, Any]:
    def store(context: Any, builder: ir.IRBuilder, _: Any, arguments: list[ir.Value]) -> ir.Value:
        model = context.data_model_manager[world]
        place = alloca_once(builder, model.get_data_type())
        builder.store(model.as_data(builder, arguments[0]), place)
        return place

    return Reference(world)(world), store


def _keep(world: World) -> World:
    return world


# refer(world) returns a reference to `world`, which has the same fields. It is valid until the compiled
# function that calls it returns. Without the compiler it is the tuple itself.
refer = _keep if vars(numba.config)["DISABLE_JIT"] else cast(Callable[[World], World], _refer)
