# One task: the working directory of the author's image as a checkout that the agent owns.
FROM environment

ARG WORKDIR
ARG CHECKOUT

COPY --chown=10001:10001 home/ /home/agent/
RUN chown 10001:10001 "$CHECKOUT" \
 && rm -rf "$WORKDIR" && mkdir -p "$(dirname "$WORKDIR")" && ln -s "$CHECKOUT" "$WORKDIR"
