"""The template as `sam build` and `sam package` would leave it, for functions on this machine."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
import yaml
from samtranslator.parser.parser import Parser  # type: ignore[import-untyped]
from samtranslator.translator.translator import Translator  # type: ignore[import-untyped]
from samtranslator.yaml_helper import yaml_parse  # type: ignore[import-untyped]

from nightshift_toolkit.local_cloud.engine import REGION
from nightshift_toolkit.local_cloud.gateway import API_ID, API_ID_TAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

BUCKET = "nightshift-local-code"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_NUMBER_FIELD = re.compile(
    r'("(?:Timeout|Heartbeat|Interval|MaxDelay)?Seconds": |"MaxAttempts": )"(\$\{\w+\})"'
)


@dataclass(frozen=True)
class Package:
    """A template that CloudFormation takes, with the code that it names.

    Attributes:
        template: plain CloudFormation, without transforms.
        archives: object key to content, all in `BUCKET`.

    """

    template: dict[str, Any]
    archives: dict[str, bytes]


def build_package(template_path: Path, parameters: Mapping[str, str]) -> Package:
    """Return the SAM template at `template_path` as plain CloudFormation, with its code.

    Args:
        template_path: code and definitions are named relative to it.
        parameters: the values that the stack will be given.

    """
    template = yaml_parse(template_path.read_text(encoding="utf-8"))
    root = template_path.parent
    archives: dict[str, bytes] = {}

    def stored(content: bytes, suffix: str) -> dict[str, str]:
        key = f"{hashlib.sha256(content).hexdigest()}{suffix}"
        archives[key] = content
        return {"Bucket": BUCKET, "Key": key}

    def replace(properties: dict[str, Any], name: str, pack: Callable[[Path], bytes]) -> None:
        if isinstance(properties.get(name), str):
            path = root / properties[name]
            properties[name] = stored(pack(path), path.suffix or ".zip")

    replace(template.get("Globals", {}).get("Function", {}), "CodeUri", _zip)
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        replace(properties, "CodeUri", _zip)
        replace(properties, "ContentUri", lambda path: _zip(path, "python/"))
        replace(properties, "DefinitionUri", _definition)
        if resource["Type"] == "AWS::ApiGatewayV2::Api":
            properties.setdefault("Tags", {})[API_ID_TAG] = API_ID
    _join_lists(template, parameters)
    return Package(template=_without_sam(template, parameters), archives=archives)


def _without_sam(template: dict[str, Any], parameters: Mapping[str, str]) -> dict[str, Any]:
    session = boto3.Session(region_name=REGION)
    translator = Translator({}, Parser(), boto_session=session)
    plain: dict[str, Any] = translator.translate(template, parameter_values=dict(parameters))
    translator.metrics.publish()
    return plain


def _definition(path: Path) -> bytes:
    # CloudFormation substitutes in the text, so that an unquoted `${Name}` becomes a number where a
    # number is due. ministack takes JSON alone, in which the same scalar must stay unquoted.
    definition = json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")))
    return _NUMBER_FIELD.sub(r"\1\2", definition).encode()


def _join_lists(template: dict[str, Any], parameters: Mapping[str, str]) -> None:
    # ministack does not evaluate `Fn::Join` in conditions: a joined list parameter is put there as
    # the text that it comes to.
    def value(name: str) -> str:
        return str(parameters.get(name, template["Parameters"][name].get("Default", "")))

    def joined(node: Any) -> Any:
        if isinstance(node, list):
            return [joined(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "Fn::Join" in node and isinstance(node["Fn::Join"][1], dict):
            separator, reference = node["Fn::Join"]
            return separator.join(part.strip() for part in value(reference["Ref"]).split(","))
        return {key: joined(item) for key, item in node.items()}

    if "Conditions" in template:
        template["Conditions"] = joined(template["Conditions"])


def _zip(folder: Path, prefix: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _source_files(folder):
            # The same sources make the same bytes, so that an unchanged function is not replaced.
            entry = zipfile.ZipInfo(prefix + path.relative_to(folder).as_posix(), _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    return buffer.getvalue()


def _source_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not hidden and path.suffix != ".pyc":
            yield path
