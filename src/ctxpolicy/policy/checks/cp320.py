"""Unknown base policy.

`extends` names a built-in policy that does not exist, or a URL.

Why: A policy is reviewed as it stands. What is fetched can change after the review.

Bad:

    version: 1
    extends: [builtin:defalt]

Good:

    version: 1
    extends: [builtin:default]
"""
