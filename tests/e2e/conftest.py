"""One local cloud for the end-to-end tests; each test leaves it without workers."""

from collections.abc import Iterator

import pytest

from e2e.place import Place, local_cloud


@pytest.fixture(scope="session")
def running_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The deployed template on the local engine."""
    with local_cloud(tmp_path_factory.mktemp("cloud")) as cloud:
        yield Place(cloud)


@pytest.fixture
def place(running_cloud: Place) -> Iterator[Place]:
    """The cloud, without any worker before and after."""
    yield running_cloud
    running_cloud.dismiss()
