"""Places that are no folders: `s3://BUCKET/PREFIX` and whatever else pyarrow.fs opens, as a small store of named objects.

Credentials are found where pyarrow looks for them (for s3: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `~/.aws`, the machine's
role; `AWS_ENDPOINT_URL` names another server than Amazon's). Nothing of a URI that may be a secret (what stands before `@`, what
follows `?`) is ever shown or stored.

On object stores (s3, gs) an object appears whole or not at all. Elsewhere it is written beside its name and moved there, which is
as atomic as that filesystem's own renaming. Azure's is refused: there pyarrow creates an object before it fills it, so that nothing
can be committed by one, and ends the whole process where it finds no credentials.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit, urlunsplit

import pyarrow as pa

from solvers.errors import ConfigError, MinimexError

_URI = re.compile(r"([A-Za-z][A-Za-z0-9.+-]*)://")
_CHUNK = 8 << 20
_CONNECT_S, _READ_S, _TRIES, _GOOGLE_S = 3.0, 5.0, 2, 10
_AGAIN_S = (0.1, 0.5)
_WHOLE_AT_ONCE = ("s3", "gcs")
_REFUSED = ("abfs", "abfss")
_S3_OPTIONS = ("endpoint_override", "scheme", "region", "tls_ca_file_path")
_CLASSES = {"s3": "S3FileSystem", "gs": "GcsFileSystem", "hdfs": "HadoopFileSystem"}
_LONGEST_REASON = 160
_NO_PREFIX = "a sweep needs a prefix of its own"
_OUR_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # no store's fault
_FAILURES = (  # what the stores' own libraries say, and what it means
    (r"NO_SUCH_BUCKET|NoSuchBucket|The specified bucket does not exist", "no such bucket"),
    (
        r"ACCESS_DENIED|INVALID_ACCESS|INVALID_CLIENT|SIGNATURE|PERMISSION_DENIED|UNAUTHENTICATED|redentials|status 40[13]",
        "it refuses access; are the credentials right?",
    ),
    (r"Could not resolve host", "no such host, or no network"),
    (r"NETWORK_CONNECTION|UNAVAILABLE|curlCode|CURL error|[Tt]imed? ?out", "it does not answer"),
)


T = TypeVar("T")


class StoreLost(MinimexError, OSError):
    """A store does not answer, or refuses."""


def is_uri(text: str) -> bool:
    """Say whether this names a place by a scheme, `s3://...` for instance, rather than by a path."""
    return _URI.match(text) is not None


def _split(uri: str) -> SplitResult:
    """Take a URI apart.

    Raises
    ------
    ConfigError
        If it is none; nothing of it is shown, because who knows where the secrets in it end.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise ConfigError("out", "SCHEME://PLACE/NAME", "something that cannot be read") from None
    if parts.scheme == "s3" and ":" in parts.netloc and "@" not in parts.netloc:
        hint = "write / in a key as %2F, or leave keys to AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        raise ConfigError("out", "s3://BUCKET/NAME", "a bucket with a colon in its name", hint)
    return parts


def out_word(word: str) -> tuple[str, str]:
    """Return a word of a command line as Hydra takes it and as it may be shown: `out=URI` is quoted, and loses its secrets."""
    key, _, value = word.partition("=")
    uri = value.strip("'\"")
    if key.lstrip("+") != "out" or not is_uri(uri):
        return word, word
    return f"{key}='{uri}'" if value == uri else word, f"{key}={without_secrets(uri)}"


def without_secrets(uri: str) -> str:
    """Return a URI as it may be shown and stored: no password, no access key, no query."""
    parts = _split(uri)
    user, at, host = parts.netloc.rpartition("@")
    user = "" if parts.scheme == "s3" else user.partition(":")[0]  # abfs://CONTAINER@..., gs://anonymous@... need theirs
    return f"{parts.scheme}://{user}{at if user else ''}{host}{parts.path.rstrip('/')}"


def local_path(uri: str) -> Path | None:
    """Return the path that a `file://` URI names; None if it is of another scheme."""
    parts = _split(uri)
    if parts.scheme != "file":
        return None
    if parts.netloc not in ("", "localhost") or not parts.path.strip("/"):
        raise ConfigError("out", "file:///PATH", repr(without_secrets(uri)))
    return Path(unquote(parts.path))


def open_store(uri: str) -> Store:
    """Open a place; the first request is made later.

    Raises
    ------
    ConfigError
        If pyarrow knows no such scheme, or the URI does not fit it.
    """
    from pyarrow import fs  # noqa: PLC0415 (its import loads the libraries of all stores)

    shown, scheme = without_secrets(uri), _split(uri).scheme
    known = ", ".join(["file", *(name for name, kind in _CLASSES.items() if kind in vars(fs))])
    if scheme in _REFUSED:
        hint = "an object appears there before it is whole; write into a folder and copy that there"
        raise ConfigError("out", f"a folder, or a URI of one of {known}", repr(shown), hint)
    try:
        if scheme == "s3":
            files, path = _open_s3(uri)
        else:
            files, path = fs.FileSystem.from_uri(_impatient(uri) if scheme in ("gs", "gcs") else uri)
    except ConfigError:
        raise
    except (OSError, ValueError, ImportError, pa.ArrowException) as error:
        if "Unrecognized filesystem" in str(error):
            raise ConfigError("out", f"a folder, or a URI of one of {known}", repr(shown)) from None
        raise ConfigError("out", "a store that can be reached", repr(shown), _reason(error, _secrets(uri))) from None
    path = path.rstrip("/")
    if not path.strip("/") or ("/" not in path and files.type_name in _WHOLE_AT_ONCE):
        raise ConfigError("out", f"{scheme}://BUCKET/NAME", repr(shown), _NO_PREFIX)
    return Store(files, path, shown, _secrets(uri))


def _open_s3(uri: str) -> tuple[Any, str]:
    """Open S3 as `from_uri` does, but with time limits: Amazon's own library would try for minutes."""
    from pyarrow import fs  # noqa: PLC0415

    parts = _split(uri)
    given = dict(parse_qsl(parts.query))
    for name in given:
        if name not in _S3_OPTIONS:
            raise ConfigError("out", f"options of s3: {', '.join(_S3_OPTIONS)}", repr(name))
    user, _, bucket = parts.netloc.rpartition("@")
    if not bucket:
        raise ConfigError("out", "s3://BUCKET/NAME", repr(without_secrets(uri)))
    if not parts.path.strip("/"):  # said before anybody is asked where the bucket is
        raise ConfigError("out", "s3://BUCKET/NAME", repr(without_secrets(uri)), _NO_PREFIX)
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint and "endpoint_override" not in given:
        scheme, _, host = endpoint.rpartition("://")
        given |= {"endpoint_override": host.rstrip("/"), "scheme": scheme or "https"}
    if "region" not in given and "endpoint_override" not in given:
        given["region"] = fs.resolve_s3_region(bucket)
    key, _, secret = user.partition(":")
    files = fs.S3FileSystem(
        access_key=unquote(key) or None,
        secret_key=unquote(secret) or None,
        connect_timeout=_CONNECT_S,
        request_timeout=_READ_S,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_TRIES),
        allow_delayed_open=True,  # a small object is one request
        **given,
    )
    return files, f"{bucket}/{unquote(parts.path).strip('/')}".rstrip("/")


def _impatient(uri: str) -> str:
    """Return a URI of Google's with a time limit: its library would try for a quarter of an hour."""
    parts = _split(uri)
    options = {"retry_limit_seconds": str(_GOOGLE_S)} | dict(parse_qsl(parts.query))
    return urlunsplit(parts._replace(query=urlencode(options)))


def _secrets(uri: str) -> tuple[str, ...]:
    parts = _split(uri)
    given = parts.netloc.rpartition("@")[0].split(":")[0 if parts.scheme == "s3" else 1 :]
    values = [value for name, value in parse_qsl(parts.query) if name not in _S3_OPTIONS]
    return tuple(one for text in (*given, *values) if text for one in (text, unquote(text)))


def _reason(error: Exception, secrets: tuple[str, ...] = ()) -> str:
    """Return in a few words what a store's failure means, no secret in it."""
    text = str(error).strip() or type(error).__name__
    for pattern, meaning in _FAILURES:
        if re.search(pattern, text):
            return meaning
    line = text.splitlines()[0]
    for secret in secrets:
        line = line.replace(secret, "...")
    return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 3] + "..."


@dataclass(frozen=True)
class Store:
    """Named objects under one prefix. `files`: a `pyarrow.fs.FileSystem`; `shown`: the URI as it may be printed.

    Every method raises `StoreLost` where the store does not do as asked.
    """

    files: Any
    prefix: str
    shown: str
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def read(self, name: str, at_most: int) -> bytes | None:
        """Return an object's content; None if there is none.

        Raises
        ------
        ValueError
            If it is longer than `at_most` bytes.
        """
        try:
            with self._guarded(may_be_missing=True), self.files.open_input_stream(f"{self.prefix}/{name}") as source:
                content: bytes = source.read(at_most + 1)
        except FileNotFoundError:
            return None
        if len(content) > at_most:
            raise ValueError(f"{self.shown}/{name} is longer than {at_most:,} bytes")
        return content

    def parsed(self, name: str, at_most: int, parse: Callable[[bytes], T]) -> T | None:
        """Return what an object's content says; None if there is none.

        pyarrow asks for an object's size before it reads, so one that is replaced in between comes torn: what cannot be parsed is
        read again.

        Raises
        ------
        ValueError
            If it cannot be parsed however often it is read, or is longer than `at_most` bytes.
        """
        for pause in (*_AGAIN_S, None):
            content = self.read(name, at_most)
            try:
                return None if content is None else parse(content)
            except (ValueError, RecursionError) as error:
                if pause is None:
                    raise ValueError(str(error)) from error
                time.sleep(pause)
        raise AssertionError  # pragma: no cover

    def put(self, name: str, content: bytes) -> None:
        """Write or replace a small object."""
        with self._guarded(), self._appearing(name) as place, self.files.open_output_stream(place) as out:
            out.write(content)

    def upload(self, path: Path, name: str) -> tuple[int, str]:
        """Write a file as an object; return how many bytes it has and their sha256."""
        size, sha = 0, hashlib.sha256()
        with (
            path.open("rb") as source,
            self._guarded(),
            self._appearing(name) as place,
            self.files.open_output_stream(place) as out,
        ):
            while block := source.read(_CHUNK):
                out.write(block)
                sha.update(block)
                size += len(block)
        return size, sha.hexdigest()

    def download(self, name: str, path: Path, size: int, sha256: str) -> None:
        """Write an object as a file, and judge that it is the one that was meant.

        Raises
        ------
        FileNotFoundError
            If there is no such object.
        ValueError
            If it has another size or another sha256.
        """
        sha, left = hashlib.sha256(), size
        path.parent.mkdir(parents=True, exist_ok=True)
        place, guarded = f"{self.prefix}/{name}", self._guarded(may_be_missing=True)
        with path.open("wb") as out, guarded, self.files.open_input_stream(place) as source:
            while block := source.read(_CHUNK):
                left -= len(block)
                if left < 0:
                    break
                out.write(block)
                sha.update(block)
        if left or sha.hexdigest() != sha256:
            raise ValueError(f"{self.shown}/{name} is not what the manifest says: other size or sha256")

    def remove(self, name: str) -> None:
        """Remove an object, if it is there."""
        with contextlib.suppress(FileNotFoundError), self._guarded(may_be_missing=True):
            self.files.delete_file(f"{self.prefix}/{name}")

    def remove_folder(self, name: str) -> None:
        """Remove all objects whose names begin with `name/`."""
        with contextlib.suppress(FileNotFoundError), self._guarded(may_be_missing=True):
            self.files.delete_dir(f"{self.prefix}/{name}")

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects under a folder, relative to the prefix."""
        from pyarrow import fs  # noqa: PLC0415

        with self._guarded():
            found = self.files.get_file_info(fs.FileSelector(f"{self.prefix}/{folder}", recursive=True, allow_not_found=True))
        return [one.path.removeprefix(f"{self.prefix}/") for one in found if one.type == fs.FileType.File]

    @contextlib.contextmanager
    def _appearing(self, name: str) -> Iterator[str]:
        """Give the place to write to, so that the object appears at once, whole."""
        place = f"{self.prefix}/{name}"
        if self.files.type_name in _WHOLE_AT_ONCE:
            yield place
            return
        self.files.create_dir(place.rpartition("/")[0], recursive=True)
        partial = f"{place}.{uuid.uuid4().hex[:8]}.partial"
        yield partial
        self.files.move(partial, place)

    @contextlib.contextmanager
    def _guarded(self, *, may_be_missing: bool = False) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            if may_be_missing and isinstance(error, FileNotFoundError):
                raise
            if getattr(error, "errno", None) in _OUR_DISK:
                raise
            raise StoreLost(f"{self.shown}: {_reason(error, self.secrets)}") from error
