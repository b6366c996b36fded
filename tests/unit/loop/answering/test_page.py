"""docs/answers.md says the sentences that code says, and its example gives the data that the page shows."""

from __future__ import annotations

import re
from dataclasses import asdict

from taoloop.core.exact_json import dumps, loads
from taoloop.loop.answering.fitting import fitted
from taoloop.loop.answering.wording import words_for
from tests.packaging import checkout
from tests.unit.loop.answering.results import record

PAGE = (checkout.ROOT / "docs" / "answers.md").read_text()
TOLD = ("nothing", "done", "not_found", "in_part", "left_out", "doubtful", "reworded")


def test_the_page_has_every_sentence_in_both_languages() -> None:
    for locale in ("en", "zh"):
        words = asdict(words_for(locale))
        missing = [name for name in TOLD if words[name].format(what="…", items="…") not in PAGE]
        assert missing == []
        disagreement = words_for(locale).disagreement.format(field="…", taken="A", other="B")
        assert disagreement in PAGE


def test_the_example_of_a_form_gives_what_the_page_says() -> None:
    schema = loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[-1])
    assert isinstance(schema, dict)
    taken, data = re.findall(r"takes from `(.*?)` the data `(.*?)`", PAGE)[0]
    assert dumps(fitted([record("1.t1", "a", loads(taken))], loads(taken), schema, "en")) == dumps(loads(data))
