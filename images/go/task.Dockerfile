# One task: its packages on the mirror, and the worktree with its repository, owned by the agent.
FROM environment

COPY mirror/ /opt/mirror/
COPY --chown=10001:10001 home/ /home/agent/
COPY --chown=10004:10004 servers/ /opt/servers/
RUN chmod -R go-rwx /opt/servers
