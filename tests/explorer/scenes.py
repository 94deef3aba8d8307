"""The sets of actors that are explored: small ones in every order, large ones at random."""

from explorer import (
    scenes_of_admissions,
    scenes_of_crowds,
    scenes_of_ends,
    scenes_of_launches,
    scenes_of_owners,
    scenes_of_work,
)
from explorer.scene import SCENES, Scene

__all__ = [
    "SCENES",
    "Scene",
    "scenes_of_admissions",
    "scenes_of_crowds",
    "scenes_of_ends",
    "scenes_of_launches",
    "scenes_of_owners",
    "scenes_of_work",
]
