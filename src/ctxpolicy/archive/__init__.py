"""Where the originals go, and how they come back.

`store` keeps records; `restoring` puts back what a list stands for, `recall` lets an agent read it, `unresolved` names
what an archive does not hold; `standing` is the text by which all of them know a message again.
"""

from ctxpolicy.archive.store import Archive, DirectoryArchive, MemoryArchive, Record, open_archive

__all__ = ["Archive", "DirectoryArchive", "MemoryArchive", "Record", "open_archive"]
