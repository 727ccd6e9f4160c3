"""The parameters that the samplers of all keys share, as text that is stored and sent to other processes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from ..contracts.abilities import KindLearner, provides
from ..contracts.sampler import Parts
from ..data.schema import Schema
from ..data.schema_json import from_json, to_json
from ..engine.inputs.advice import ANY
from ..engine.inputs.registry import build, describe
from ..errors import InputError
from ..learners import Mixture
from ..sampler import Sampler
from ..validation import check_count, check_flag


@dataclass(frozen=True)
class SamplerSpec:
    """The parameters of every key's sampler, the seed from which theirs are derived, and the form of the instances.

    ``features`` is None if the first instance of a partition determines it, which only dense instances can. ``labels``
    are the two labels of the log, the negative one first, or None where they are -1 and +1: all keys have the same.
    ``schema`` says what the named values of an instance are, where instances are objects with names. ``advisers`` are
    those whose advice may come with an instance, or "any".
    """

    parts: Parts
    seed: int
    costs: tuple[float, float] | None
    classes: tuple[Any, ...] | None
    most: int
    features: int | None
    sparse: bool
    labels: tuple[Any, Any] | None = None
    schema: Schema | None = None
    advisers: tuple[str, ...] | str | None = None

    @classmethod
    def of(cls, sampler: Sampler, features: int | None, sparse: bool) -> SamplerSpec:
        """The parameters of a sampler that has played no round."""
        if not isinstance(sampler, Sampler):
            raise InputError(f"sampler must be an aw.Sampler, got {sampler!r}.", owner="keyed")
        engine = sampler.engine
        if engine.round or engine.volunteered or sampler.tasks:
            raise InputError("sampler must be a new one: every key gets its own, made like it.", owner="keyed")
        if engine.seed is None:
            raise InputError("sampler must have a seed, from which the seed of every key follows.", owner="keyed")
        check_flag("keyed", "sparse", sparse)
        learner, schema = engine.parts.learner, engine.schema
        known = schema.kinds if schema is not None else learner.kinds if provides(learner, KindLearner) else None
        if known is not None:
            sparse = schema is None or bool(known.vectors or known.words)
            if features not in (None, known.d):
                what = "kinds say" if schema is None else "schema says"
                raise InputError(
                    f"features must be {known.d}, as the sampler's {what}, got {features!r}.", owner="keyed"
                )
            features = known.d
        if features is not None:
            check_count("keyed", "features", features)
        elif sparse:
            raise InputError("features must say how many features there are where instances are sparse.", owner="keyed")
        classes = None if engine.classes is None else tuple(engine.classes)
        who: tuple[str, ...] | str | None = None
        if engine.advisers is not None:
            who = ANY if engine.advisers.is_open else tuple(engine.advisers.names)
        fixed = (engine.parts, engine.seed, engine.costs, classes, engine.most)
        found = cls(*fixed, features, sparse, engine.pair.written, schema, who)
        found.make(0)  # raises now what every worker would raise later
        return found

    @property
    def needs_time(self) -> bool:
        """Whether every instance must have a time."""
        return self.make(0).engine.needs_time

    def make(self, seed: int) -> Sampler:
        """A new sampler."""
        classes: Any = "open" if self.most else None if self.classes is None else list(self.classes)
        more: dict[str, Any] = {"most_classes": self.most} if self.most else {}
        if classes is None and not self.parts.learner.regression:
            more["labels"] = self.labels or (-1, 1)
        if self.advisers is not None:
            more["advisers"] = ANY if self.advisers == ANY else list(self.advisers)
        return Sampler(*self.parts, seed=seed, costs=self.costs, classes=classes, **more)

    def as_stored(self, kind: str | None) -> SamplerSpec:
        """The same, but with the default learner of release 0.1 where a store, of this kind, has that one."""
        learner = self.parts.learner
        if kind is None or self.schema or not isinstance(learner, Mixture) or kind == self.written():
            return self
        earlier = replace(self, parts=self.parts._replace(learner=replace(learner, version=1)))
        return earlier if kind == earlier.written() else self

    def written(self) -> str:
        """As text, the same for equal parameters."""
        facts = {
            "parts": [describe(part) for part in self.parts],
            "seed": self.seed,
            "costs": self.costs,
            "classes": self.classes,
            "most": self.most,
            "features": self.features,
            "sparse": self.sparse,
        }
        facts |= {} if self.labels is None else {"labels": self.labels}
        facts |= {} if self.schema is None else {"schema": to_json(self.schema)}
        facts |= {} if self.advisers is None else {"advisers": self.advisers}
        return json.dumps(facts, sort_keys=True)

    @classmethod
    def read(cls, text: str) -> SamplerSpec:
        """The inverse of ``written``."""
        facts = json.loads(text)
        pair, classes, labels, schema = facts["costs"], facts["classes"], facts.get("labels"), facts.get("schema")
        advisers = facts.get("advisers")
        return cls(
            Parts(*(build(part) for part in facts["parts"])),
            facts["seed"],
            None if pair is None else (pair[0], pair[1]),
            None if classes is None else tuple(classes),
            facts["most"],
            facts["features"],
            facts["sparse"],
            None if labels is None else (labels[0], labels[1]),
            None if schema is None else from_json(schema),
            tuple(advisers) if isinstance(advisers, list) else advisers,
        )
