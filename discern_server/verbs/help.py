"""``discern help``: the bundled guide."""

from __future__ import annotations

from typing import Final

from discern_server.result import DiscernResult, failure
from discern_server.toml import nearest
from discern_server.verbs.own import own_guide

TOPICS: Final = ("start", "definitions", "sources", "prompts", "configuration", "verbs", "eras", "serving")
"""The topics in the order in which one would read them; each is a page of the guide."""


def help_on(topic: str | None = None) -> DiscernResult:
    """The topics of the guide, or the page on `topic` as Markdown."""
    if topic is None:
        topics = [{"topic": name, "title": _page(name).partition("\n")[0].lstrip("# ")} for name in TOPICS]
        hints = ("discern help TOPIC shows one", "discern VERB --help lists the arguments of a verb")
        return DiscernResult(ok=True, verb="help", message="the guide", data={"topics": topics}, hints=hints)
    if topic in TOPICS:
        return DiscernResult(ok=True, verb="help", message=topic, data=_page(topic))
    guess = nearest(topic, TOPICS)
    hint = f"did you mean {guess}?" if guess else "discern help lists the topics"
    return failure("help", "unknown_topic", f"the guide has no topic {topic!r}", hints=(hint,))


def _page(topic: str) -> str:
    return (own_guide() / f"{topic}.md").read_text(encoding="utf-8")
