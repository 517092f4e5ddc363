# What the tasks of one repository share: its pinned packages, in npm's cache and in node_modules.
FROM node

ARG SOURCE_DATE_EPOCH=1735689600

COPY mirror/ /opt/mirror/
COPY --chown=10001:10001 home/ /home/agent/

RUN install -d -o 10001 -g 10001 /opt/npm-cache

USER 10001:10001
# The package.json that came with this step names the pins; the task's own comes later.
RUN export SOURCE_DATE_EPOCH HOME=/home/agent \
 && /usr/local/sbin/fill-npm-cache /opt/mirror \
 && cd /home/agent/*/ \
 && npm install --offline --ignore-scripts --no-package-lock --no-progress \
 && rm -rf package.json /opt/npm-cache/_logs /opt/npm-cache/_cacache/tmp /home/agent/.npm \
 && find /opt/npm-cache /home/agent -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
USER root
