"""Settings of the stages of a thought: one group for each, each with its own switch."""

from __future__ import annotations

from typing import Final

from pydantic import Field, field_validator

from taoloop.core.settings import Seconds, SettingsGroup
from taoloop.thought.pipeline.authorising import Authorisation
from taoloop.thought.pipeline.routing import RoutingRules, Thresholds
from taoloop.thought.pipeline.rungs import EmptyPlanPolicy
from taoloop.thought.pipeline.selecting import SelectionRules
from taoloop.thought.pipeline.urgency import NEGATIONS, URGENT_WORDS, UrgentWords
from taoloop.thought.planners.model.offer import Mode

Words = dict[str, tuple[str, ...]]

_MOST_WORDS: Final = 500
_LONGEST_WORD: Final = 60
_THRESHOLDS: Final = Thresholds()
_ROUTING: Final = RoutingRules()
_SELECTION: Final = SelectionRules()


class RouteSettings(SettingsGroup):
    """When a language model is asked at all."""

    enabled: bool = Field(
        default=True, description="Whether a model is asked where the graph planner is unsure; else that one plans all."
    )
    max_input_tokens: int = Field(
        default=_ROUTING.max_input_tokens,
        ge=0,
        le=10_000_000,
        description="An input with more tokens is planned by the graph planner; 0 for no such bound.",
    )
    urgent_words: Words = Field(
        default={},
        description="Words that want an answer without delay, by language, in place of the built-in ones of that "
        "language (docs/thought.md); an empty list has none.",
    )
    negation_words: Words = Field(
        default={},
        description="Words that take the urgency away when they stand shortly before, by language in the same way.",
    )
    max_failures: int = Field(
        default=_ROUTING.max_failures,
        ge=0,
        le=100,
        description="After more failures of a planner than this in a row the next one plans.",
    )
    forget_failures_seconds: Seconds = Field(
        default=60.0, description="How long after its last failure a model is tried again all the same."
    )
    empty_plan: EmptyPlanPolicy = Field(
        default=_ROUTING.empty_plan,
        description="What becomes of a plan without a step: `fail`, or `single_step`, the graph planner's first one.",
    )
    min_fit: float = Field(
        default=_THRESHOLDS.fit,
        ge=0.0,
        le=1.0,
        description="Below this probability that the tool fits, the graph planner's plan or question is not taken.",
    )
    min_arguments: float = Field(
        default=_THRESHOLDS.arguments,
        ge=0.0,
        le=1.0,
        description="Below this probability that all arguments are right, its plan is not taken.",
    )
    min_missing: float = Field(
        default=_THRESHOLDS.missing,
        ge=0.0,
        le=1.0,
        description="Below this probability that the value is missing, its question is not taken.",
    )
    fit_of_none: float = Field(
        default=_THRESHOLDS.none,
        ge=0.0,
        le=1.0,
        description="Above this probability that some tool fits, its word that none does is not taken.",
    )

    @field_validator("urgent_words", "negation_words")
    @classmethod
    def _are_few(cls, words: Words) -> Words:
        every = [word for each in words.values() for word in each]
        if len(every) > _MOST_WORDS or any(not word.strip() or len(word) > _LONGEST_WORD for word in every):
            raise ValueError(f"at most {_MOST_WORDS} words of 1 to {_LONGEST_WORD} characters are read")
        return words

    def rules(self) -> RoutingRules:
        """Return them as routing takes them."""
        return RoutingRules(
            is_on=self.enabled,
            max_input_tokens=self.max_input_tokens,
            urgent=UrgentWords({**URGENT_WORDS, **self.urgent_words}, {**NEGATIONS, **self.negation_words}),
            max_failures=self.max_failures,
            empty_plan=self.empty_plan,
            thresholds=Thresholds(
                fit=self.min_fit,
                arguments=self.min_arguments,
                missing=self.min_missing,
                none=self.fit_of_none,
            ),
        )


class SelectSettings(SettingsGroup):
    """Which tools a language model is offered."""

    enabled: bool = Field(
        default=True, description="Whether tools are chosen for each request; else all that may be used are offered."
    )
    max_found: int = Field(
        default=_SELECTION.max_found, ge=1, le=100, description="Most tools that the words of a request find."
    )
    max_produced: int = Field(
        default=_SELECTION.max_produced,
        ge=0,
        le=100,
        description="Most tools that are offered besides, since they produce what the others need.",
    )
    max_depth: int = Field(
        default=_SELECTION.max_depth, ge=1, le=10, description="Most producers in a row from a tool that was found."
    )

    def rules(self, allowed_tools: frozenset[str] = frozenset()) -> SelectionRules:
        """Return them as selection takes them; `allowed_tools` is the deployment's own list, empty for all."""
        return SelectionRules(
            is_on=self.enabled,
            max_found=self.max_found,
            max_produced=self.max_produced,
            max_depth=self.max_depth,
            allowed_tools=allowed_tools,
        )


class AuthoriseSettings(SettingsGroup):
    """What planners may come to while a deployment comes to trust them."""

    modes: tuple[Mode, ...] = Field(
        default=tuple(Mode),
        min_length=1,
        description="Kinds of thoughts that are allowed: `plan`, `ask`, `none`, `done`; others become a refusal.",
    )
    tools: tuple[str, ...] = Field(
        default=(), max_length=10_000, description="Names of the tools that plans may use; empty allows every tool."
    )

    def authorisation(self) -> Authorisation:
        """Return the white list."""
        return Authorisation(modes=frozenset(self.modes) | {Mode.NONE}, tools=frozenset(self.tools))


class PipelineSettings(SettingsGroup):
    """The stages of a thought."""

    route: RouteSettings = Field(default_factory=RouteSettings, description="When a language model is asked.")
    select: SelectSettings = Field(default_factory=SelectSettings, description="Which tools it is offered.")
    authorise: AuthoriseSettings = Field(default_factory=AuthoriseSettings, description="What planners may come to.")
