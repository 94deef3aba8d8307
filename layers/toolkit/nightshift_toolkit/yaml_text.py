"""YAML in which a time is the text that was written, as it is in JSON."""

from typing import Final

import yaml

_TIMESTAMP: Final = "tag:yaml.org,2002:timestamp"


class TextLoader(yaml.SafeLoader):
    """A safe loader without timestamps."""


TextLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
