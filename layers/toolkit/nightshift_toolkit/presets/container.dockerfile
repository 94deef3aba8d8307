# A Nightshift worker in a container, built in the folder of the repository:
#
#   docker build --file THIS --tag nightshift-worker .
#   docker run --detach --restart unless-stopped --stop-timeout @stop_seconds@ \
#       --env-file worker.env --read-only --tmpfs /tmp --volume nightshift:/home/nightshift \
#       --cap-drop ALL --security-opt no-new-privileges --pids-limit 4096 nightshift-worker
#
# worker.env has one NAME=VALUE a line: AWS_DEFAULT_REGION, NIGHTSHIFT_QUEUE_URL, NIGHTSHIFT_TABLE,
# and AWS credentials where the container has no role. Runs see none of it but what --env names.

FROM python:3.13-slim

# The first process of a container: hands signals on to the worker, and reaps what nobody awaits.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/nightshift
COPY pyproject.toml ./
COPY layers layers
RUN python -m pip install --no-cache-dir --requirement layers/toolkit/requirements.txt \
    && python -m pip install --no-cache-dir --no-deps --no-build-isolation .

# The agent's own installation belongs here, still as root, so that runs cannot change it.

RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin nightshift
USER 10001
ENV HOME=/home/nightshift
WORKDIR /home/nightshift
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "--", "nightshift", "worker"]
CMD @arguments@
