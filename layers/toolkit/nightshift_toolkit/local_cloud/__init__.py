"""The local cloud: the deployed template on this machine, without Docker and without an account."""
