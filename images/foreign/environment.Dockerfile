# What the author's test script would fetch when it runs, at hand for it alone.
FROM foreign

COPY mirror/ /opt/verifier-mirror/
COPY requirements.txt /opt/verifier-mirror/

RUN set -e; \
    if [ -s /opt/verifier-mirror/requirements.txt ]; then \
        python3 -m venv --system-site-packages /opt/verifier; \
        /opt/verifier/bin/pip install --quiet --no-deps --no-index \
            --find-links /opt/verifier-mirror --requirement /opt/verifier-mirror/requirements.txt; \
    fi; \
    rm -rf /opt/verifier-mirror
