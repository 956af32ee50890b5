"""A sound policy for short simulations, and one that is bad in each of the ways that a simulation judges."""

from __future__ import annotations

GOOD = """\
version: 1
name: sound
budget: {window: 12000, counter: chars}
pins:
  - {id: task, match: {role: user, oldest: 1}}
  - {id: request, match: {role: user, newest: 1}}
rules:
  - {id: cap, at: append, match: {role: tool, tokens: {gt: 800}}, truncate: {max_tokens: 800}}
  - {id: too-big, at: append, match: {share: {gte: 1.0}}, refuse: {}}
  - {id: note, at: send, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}, min_gain: 0.1}}
  - {id: drop, at: send, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.7}}}}
"""

TASK_GONE = """\
version: 1
name: forgetful
budget: {window: 12000, counter: chars}
rules:
  - {id: drop, at: send, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.5}}}}
"""

NO_WAY_OUT = """\
version: 1
name: trusting
budget: {window: 12000, counter: chars}
pins:
  - {id: task, match: {role: user, oldest: 1}}
rules:
  - {id: note, at: send, when: {pressure: {gt: 0.7}}, compact: {until: {pressure: {lt: 0.5}}, min_gain: 0.1}}
"""

RESTLESS = """\
version: 1
name: restless
budget: {window: 12000, counter: chars}
pins:
  - {id: task, match: {role: user, oldest: 1}}
rules:
  - id: note
    at: send
    when: {pressure: {gt: 0.7}}
    compact: {until: {pressure: {lt: 0.69}}, span: {min: 1, max: 1}, word_limit: 5}
  - {id: drop, at: send, when: {pressure: {gt: 0.9}}, evict: {until: {pressure: {lt: 0.7}}}}
"""
