# What the tasks of one repository share: its mirror of pinned packages and its virtual environment.
FROM python

ARG SOURCE_DATE_EPOCH=1735689600

COPY mirror/ /opt/mirror/
COPY requirements.txt project.pth /opt/

RUN install -d -o 10001 -g 10001 /opt/venv

USER 10001:10001
# PIP_NO_CACHE_DIR and the fixed date keep the layer the same each time: compiled files are then
# checked by hash, not by time.
RUN export SOURCE_DATE_EPOCH HOME=/home/agent PIP_NO_CACHE_DIR=1 \
 && /usr/bin/python3 -m venv /opt/venv \
 && /opt/venv/bin/pip install --quiet --no-deps --requirement /opt/requirements.txt \
 && cp /opt/project.pth "$(/opt/venv/bin/python -c 'import site; print(site.getsitepackages()[0])')" \
 && find /opt/venv -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
USER root
