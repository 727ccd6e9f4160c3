"""Compilation of steps that only other steps call: only as far as their callers need it.

numba generates fully optimised machine code for every function and stores it. A step that is compiled into its callers
is never run by itself: its callers optimise it again, together with their own code. Here such a step is only
simplified, which makes less work for its callers; that saves about a third of the time of every first use.
"""

from __future__ import annotations

from typing import Any, cast

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


class InnerLibrary(JITCodeLibrary):
    """The code of one inner step, which is linked into others and never run by itself."""

    def _optimize_final_module(self) -> None:
        """Inline and canonicalise loops only; more would prevent the callers from vectorising."""
        settings = {"loop_vectorize": False, "slp_vectorize": False, "opt": 0, "cost": "cheap"}
        passes, builder = cast(Any, self)._codegen._module_pass_manager(**settings)
        passes.run(cast(Any, self)._final_module, builder)

    def _finalize_final_module(self) -> None:
        cast(Any, self)._finalize_dynamic_globals()
        self._finalized = True


class InnerLowering(NativeLowering):
    """The last pass of the compiler, without generating machine code."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> Any:
        """Lower one step, so that others can call it."""
        context, flags = state.targetctx, state.flags
        state.library = cast(Any, InnerLibrary)(context.codegen(), state.func_id.func_qualname)
        state.flags = flags.copy()
        state.flags.no_compile = True
        try:
            changed = cast(Any, super()).run_pass(state)
        finally:
            state.flags = flags
        state.library.finalize()
        lowered = state["cr"]
        described = lowered.fndesc
        name = described.qualname.split(".")[-1]
        never_called = _dynfunc.make_function(
            described.lookup_module(), name, "an inner step", 0, lowered.env, (state.library,)
        )
        context.insert_user_function(never_called, described, [state.library])
        state["cr"] = lowered._replace(cfunc=never_called)
        return changed


cast(Any, register_pass)(mutates_CFG=True, analysis_only=False)(InnerLowering)


class InnerCompiler(CompilerBase):
    """numba's compiler with another last pass."""

    def define_pipelines(self) -> list[Any]:
        """The passes that a step goes through."""
        built: Any = cast(Any, DefaultPassBuilder).define_nopython_pipeline(cast(Any, self).state)
        passes: Any = cast(Any, PassManager)("inner step")
        for each, why in built.passes:
            passes.add_pass(InnerLowering if each is NativeLowering else each, why)
        passes.finalize()
        return [passes]
