"""What the list of provider rules holds beyond what `lint` judges under its own code, and why."""

from __future__ import annotations

# Rules that hold for every provider, and the provider's own that say the same: the codes a fault comes under.
JUDGED_AS: dict[str, tuple[str, ...]] = {
    "X-02": ("ANT-01", "ANT-02", "OAC-01", "OAC-02", "GEM-02", "OAR-15"),
    "X-03": ("ANT-01", "OAC-01", "OAR-01", "GEM-03"),
    "X-04": ("ANT-08", "ANT-13", "OAC-13", "OAR-04"),
    "X-11": ("ANT-10", "OAR-09", "GEM-09"),
    "X-13": ("ANT-25",),
    "X-14": ("ANT-27", "OAR-11"),
    "X-16": ("ANT-01", "OAC-01", "GEM-02", "OAR-15"),
    "ANT-28": ("X-10",),
    "GEM-16": ("GEM-05",),
}

_WINDOW = (
    "how many tokens a model takes, and how it counts, stands in no request; `ctxpolicy inspect --window` estimates"
)

# Rules that no list can be judged by.
NOT_JUDGED: dict[str, str] = {
    "X-05": "it is about when to rewrite: a list that was rewritten too early shows as a call without its result",
    "X-15": _WINDOW,
    "X-17": "whether words are a summary, and of what, a list does not tell; summaries of a policy have role user",
    "X-18": "it compares two runs of a policy; a list is one",
    "ANT-09": "what the response held is not in the list; a signature that was cut is ANT-10",
    "ANT-11": "a list does not tell whether a block was made before or after the history before it was rewritten; "
    "`reasoning` in a policy decides when a policy rewrites it",
    "ANT-26": _WINDOW,
    "ANT-32": "it compares two requests; a list is of one",
    "OAC-15": _WINDOW,
    "OAR-05": "whether an item was made with reasoning stands in the response, not in the list without it",
    "OAR-12": _WINDOW,
    "OAR-14": "no item names the model that made it",
    "GEM-14": "it is about the request that makes a cache, and the model's own count of it",
    "GEM-15": _WINDOW,
}
