"""What words and replies mean, for every measure: the lexicons, and the parser by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goffman.lexicons.attitudes import Attitudes
    from goffman.lexicons.gender import GenderLexicon


@dataclass(frozen=True, kw_only=True)
class Words:
    """What the answers of a run are read with."""

    attitudes: Attitudes
    gender: GenderLexicon
    gender_file: str = "shipped"
    """The name of the file that the gender of words comes from."""
    parser: str
    """What replies are read by."""

    def entry(self) -> dict[str, Any]:
        """What a manifest says of them."""
        words = {"sha256": self.gender.digest, "words": len(self.gender.words)}
        return {
            "attitudes": [source.entry() for source in self.attitudes.sources],
            "gender": {"file": self.gender_file, **words},
            "parser": self.parser,
        }
