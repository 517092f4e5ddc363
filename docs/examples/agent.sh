#!/bin/sh
# The smallest agent in shell: it reads a file, runs the tests, and gives an answer without fields
# where none fails; else it ends by an error, and has crashed.
ask() {
    printf '%s\n' "$1"
    read -r reply
    printf '%s\n' "$reply" >&2
}
read -r briefing
ask '{"id": "1", "action": "read_file", "arguments": {"path": "README.md"}}'
ask '{"id": "2", "action": "run_tests"}'
case $reply in *'"failed":0,'*) ;; *) exit 1 ;; esac
ask '{"id": "3", "action": "final_answer", "arguments": {"fields": {}}}'
