# One task: its packages in npm's cache, and the worktree with its repository, owned by the agent.
FROM environment

ARG SOURCE_DATE_EPOCH=1735689600

COPY mirror/ /opt/mirror/

USER 10001:10001
RUN export SOURCE_DATE_EPOCH HOME=/home/agent \
 && /usr/local/sbin/fill-npm-cache /opt/mirror \
 && rm -rf /opt/npm-cache/_logs /opt/npm-cache/_cacache/tmp /home/agent/.npm \
 && find /opt/npm-cache -exec touch --no-dereference --date "@$SOURCE_DATE_EPOCH" {} +
USER root

COPY --chown=10001:10001 home/ /home/agent/
COPY --chown=10004:10004 servers/ /opt/servers/
RUN chmod -R go-rwx /opt/servers
COPY --chown=10004:10004 servers/ /opt/servers/
RUN chmod -R go-rwx /opt/servers
