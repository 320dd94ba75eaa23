# An arena in a container. Build: docker build -t pyramid-arena . Run: docker compose up -d
#
# Bots run in bubblewrap, which makes namespaces for each of them. The container needs the right to do so: compose.yaml
# gives it, and `arena doctor` says whether it has it. Without it the arena serves pages and refuses to run contests.
FROM python:3.12-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN python -m venv /opt/arena \
    && /opt/arena/bin/pip install --no-cache-dir --constraint constraints.txt .

FROM python:3.12-slim-bookworm
RUN apt-get update \
    && apt-get install --no-install-recommends --yes bubblewrap gcc libc6-dev make tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /var/lib/arena --uid 10001 arena
COPY --from=build /opt/arena /opt/arena
ENV PATH=/opt/arena/bin:$PATH ARENA_HOME=/var/lib/arena/home PYTHONUNBUFFERED=1
USER arena
WORKDIR /var/lib/arena
VOLUME /var/lib/arena
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["arena"]
CMD ["serve", "--host", "0.0.0.0"]
