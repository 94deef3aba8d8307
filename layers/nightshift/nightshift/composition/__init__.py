"""Puts the services of each function together; the only place that knows both sides.

A module for each function, so that a cold start loads what its function calls and no more.

Every `build_*` is pure: it reads no environment and makes no call. Clients are made for what no
override replaces, so that a test which brings all its ports needs no AWS.
"""
