# One image for the operator and for the init container that pods wait in. Built without network beyond the package index:
#
#   make images          # with the labels, and the images of the preflight checks; or: docker build -t grove-operator:v0.1.0 .
#
# It runs as nobody, with a root that nothing writes to; /tmp holds what rules of one's own are compiled to.
#
# The base is an exact version, and not a digest, which only a registry can tell: `make pin` asks it, and writes base-images.lock, from
# which `make images` takes the digests.
ARG PYTHON=3.13.12-slim-trixie
FROM docker.io/library/python:${PYTHON} AS build
WORKDIR /src
COPY . .
# Without pip, which nothing in the final image runs.
RUN python -m venv --without-pip /opt/grove
RUN python -m pip --python /opt/grove/bin/python install --no-cache-dir --disable-pip-version-check ".[cluster,fast,observe,traces,webhooks]"
RUN /opt/grove/bin/python -m compileall -q /opt/grove/lib

FROM docker.io/library/python:${PYTHON}
COPY --from=build /opt/grove /opt/grove
ENV PATH=/opt/grove/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 GROVE_CACHE_DIR=/tmp/grove
WORKDIR /tmp
USER 65532:65532
# Pods that start after others name the image and its arguments alone; the Deployment says `grove operator run`.
ENTRYPOINT ["/opt/grove/bin/grove", "initc"]
