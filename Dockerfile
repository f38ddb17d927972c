FROM python:3.11-slim-bookworm AS builder

# No pip in the environment that ships: the builder's own pip installs into it.
WORKDIR /build
COPY requirements.lock .
RUN python -m venv --without-pip /opt/venv \
    && pip --python /opt/venv install --no-cache-dir --require-hashes -r requirements.lock


FROM python:3.11-slim-bookworm

# A number, so that an orchestrator can tell that it is not root.
RUN useradd --system --uid 10001 --user-group --home-dir /app --no-create-home app

WORKDIR /app
COPY --from=builder /opt/venv /opt/venv
COPY openapi.yaml ./
COPY docs docs
COPY deploy/gunicorn.conf.py deploy/
COPY service service

# PRODUCTION: the published development keys are refused; mount a key file and name it in KEYS_FILE.
ENV PATH=/opt/venv/bin:$PATH \
    PORT=8080 \
    PRODUCTION=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

USER 10001:10001
EXPOSE 8080

# urlopen raises on anything but success, and that is all the check needs.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/readyz', timeout=2)"]

ENTRYPOINT ["python", "-m", "service.cli"]
CMD ["serve", "--host", "0.0.0.0"]
