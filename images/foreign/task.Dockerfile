# One task: the working directory of the author's image as a checkout that the agent owns.
FROM environment

ARG WORKDIR
ARG CHECKOUT

COPY --chown=10001:10001 home/ /home/agent/
COPY --chown=10004:10004 servers/ /opt/servers/
RUN chmod -R go-rwx /opt/servers
RUN chown 10001:10001 "$CHECKOUT" \
 && rm -rf "$WORKDIR" && mkdir -p "$(dirname "$WORKDIR")" && ln -s "$CHECKOUT" "$WORKDIR"
