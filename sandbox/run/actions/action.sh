#!/bin/bash
# Asks the harness for an action: action NAME [ARGUMENTS], these as a JSON object. Prints the reply.
set -eu
if [ $# -lt 1 ]; then
    echo "usage: action NAME [ARGUMENTS], e.g. action request_approval '{\"scope\": \"network\", \"command\": \"npm ci\"}'" >&2
    exit 2
fi
arguments=${2:-{\}}
id=$$-$RANDOM$RANDOM
exec 3<>"/dev/tcp/127.0.0.1/$SANDBOX_ACTIONS"
printf '{"id": "%s", "action": "%s", "arguments": %s}\n' "$id" "$1" "${arguments//$'\n'/ }" >&3
IFS= read -r reply <&3
printf '%s\n' "$reply"
case $reply in "{\"id\":\"$id\",\"status\":\"ok\","*) ;; *) exit 1 ;; esac
