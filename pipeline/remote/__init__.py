"""A sweep whose home is an object store: `out=s3://BUCKET/PREFIX`, or any other scheme of pyarrow.fs.

    PREFIX/
      manifest.json                        the one object whose replacement commits: all that manifest.json says, and `snapshot`
      snapshots/<number>-<id>/points.parquet, tables/..., inputs/..., checkpoints/..., checks.parquet, report.html, status.json
      _lock.json                           who is at work, see `pipeline.lease`

Rules
-----
1. Work is done on a *mirror*, an ordinary sweep's directory (`mirror_of`): journal, lock and publishing are what they always are.
   After each publishing the mirror is *pushed*.
2. A push writes new and changed files into a folder of its own under `snapshots/`, then puts manifest.json, then removes what
   neither this snapshot nor the one before names. Files that did not change stay where they are. Where it dies, the snapshot before
   stands; a reader that holds the manifest before finds its files. Names in a store have no rename that takes many at once, and
   need none.
3. Before manifest.json is put it is read again: if it is not the one this mirror came from, nothing is overwritten. Between that
   look and the put there is a gap (pyarrow knows no conditional writing): two who hold the lease at once, against all odds, and
   commit in the same instant leave one snapshot, whole, of one of them; the other's rows are in its mirror, which it does not
   take for the store's, because a snapshot has a random id beside its number.
4. A mirror whose snapshot is not the store's gives way: renamed aside if it holds anything that was never pushed (its rows are then
   taken over as any sibling's), else removed; the store's snapshot is fetched, sizes and sha256 judged.
5. A store that is lost while points are computed costs one warning; each publishing tries again.
6. What a manifest names is believed only if it is a place where a sweep keeps something.
"""

from pipeline.remote.mirror import folder_of, home_of, is_remote
from pipeline.remote.objects import is_uri, out_word, without_secrets
from pipeline.remote.session import Remote, at_work, fetched, give_back, who_works

__all__ = [
    "Remote",
    "at_work",
    "fetched",
    "folder_of",
    "give_back",
    "home_of",
    "is_remote",
    "is_uri",
    "out_word",
    "who_works",
    "without_secrets",
]
