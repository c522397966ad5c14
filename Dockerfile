# The application. docker-compose.yml runs it as web, worker, control and beat.
FROM python:3.11-slim-bookworm AS build
WORKDIR /build
COPY scripts/setup.sh scripts/setup.sh
COPY requirements.txt requirements-telemetry.txt requirements-uv.txt ./
COPY importer/engine/native importer/engine/native
# With bytecode, which the user of the image may not write.
RUN UV_COMPILE_BYTECODE=true VENV=/opt/venv scripts/setup.sh image \
 && rm /opt/venv/bin/uv /opt/venv/bin/uvx

FROM python:3.11-slim-bookworm
COPY scripts/setup.sh /build/scripts/setup.sh
RUN /build/scripts/setup.sh client \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --user-group --uid 10001 --home-dir /var/lib/millrace millrace \
 && install -d -o millrace -g millrace -m 0700 /var/lib/millrace /var/lib/millrace-uploads
COPY --from=build /opt/venv /opt/venv
COPY . /opt/millrace
COPY --from=build /build/importer/engine/native /opt/millrace/importer/engine/native
# A checkout of a user with the umask 077 has files that nobody else may read.
RUN chmod -R a+rX /opt/millrace
# The command: docker compose exec web millrace user list
RUN printf '#!/bin/sh\nPYTHONPATH=/opt/millrace exec /opt/venv/bin/python -m importer.management.command_line "$@"\n' \
      > /usr/local/bin/millrace \
 && chmod 755 /usr/local/bin/millrace
WORKDIR /opt/millrace
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    VAR_DIR=/var/lib/millrace \
    UPLOAD_DIR=/var/lib/millrace-uploads \
    BIND=0.0.0.0
USER millrace
EXPOSE 8000
CMD ["python", "-m", "importer.management.processes", "web"]
