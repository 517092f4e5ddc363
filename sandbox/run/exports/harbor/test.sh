#!/bin/bash
# Made by `sandbox export --as harbor`; Harbor runs it as root. Each part is a number in
# /logs/verifier/reward.json, and a log beside it; `reward` is 1 where all are.
. /tests/settings.sh
out=/logs/verifier
mkdir -p "$out"
rm -f "$out/reward.json" "$out/reward.txt"
cd "$WORKTREE" || exit 1
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
work=$(mktemp -d)
chmod 755 "$work"
install -d -o agent "$work/agent"
parts=()

part() { # NAME COMMAND...: say whether it holds
  name=$1
  shift
  if "$@" > "$out/$name.txt" 2>&1; then parts+=("\"$name\": 1"); else parts+=("\"$name\": 0"); fi
}

as_agent() {
  runuser -u agent -- env -i HOME=/home/agent USER=agent LOGNAME=agent LANG=C.UTF-8 TZ=UTC \
    PATH=/opt/venv/bin:/usr/local/bin:/usr/bin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0 \
    PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH=/tests "$@"
}

# FILE: print the ids of the tests in it that pass.
passed_pytest() {
  as_agent REPORT="$work/agent/report" python -m pytest "${OPTIONS[@]}" -p sandbox_reporter -- "$1" >&2
  cat "$work/agent/report"
  rm -f "$work/agent/report"
}

passed_tape() {
  as_agent node_modules/.bin/tape "$1" | tee /dev/stderr | awk -v file="$1" '
    function told() { if (name != "" && good && !bad) print file "::" name }
    /^# / { told(); name = substr($0, 3); good = bad = 0 }
    /^ok / { good = 1 }
    /^not ok / { bad = 1 }
    END { told() }'
}

collateral() { bash /tests/state.sh | diff /tests/state.txt -; }

commits() {
  case $COMMITS in
    none) test "$(git rev-parse HEAD)" = "$BASE" ;;
    allowed) git merge-base --is-ancestor "$BASE" HEAD ;;
    required)
      git merge-base --is-ancestor "$BASE" HEAD && test "$(git rev-parse HEAD)" != "$BASE" &&
        git diff --quiet HEAD -- "${MUST[@]}" && test -z "$(git ls-files --others -- "${MUST[@]}")"
      ;;
  esac
}

# Each file is new, so nothing of the candidate's is written through.
lay() { (cd "$1" && find . -type f -printf '%P\0') | while IFS= read -r -d '' path; do
  rm -rf "${WORKTREE:?}/$path"
  mkdir -p "$(dirname "$WORKTREE/$path")"
  cp "$1/$path" "$WORKTREE/$path"
done; }

hidden() {
  lay /tests/hidden
  for file in "${TEST_FILES[@]}"; do "passed_$FRAMEWORK" "$file"; done | LC_ALL=C sort > "$work/passed"
  ! LC_ALL=C sort /tests/expected.txt | LC_ALL=C comm -23 - "$work/passed" | grep .
}

# A test that had to be written passes with the fix, and fails without it.
own() {
  for file in "${OWN[@]}"; do
    "run_$FRAMEWORK" "$file" && test -n "$("passed_$FRAMEWORK" "$file")" || return 1
  done
  find . -path ./.git -prune -o -path ./node_modules -prune -o -type f -printf '%P\n' |
    grep -a -P -f /tests/free.txt | while IFS= read -r path; do
      printf '%s\n' "${OWN[@]}" | grep -q -x -F -- "$path" || rm -f -- "$path"
    done
  lay /tests/base
  for file in "${OWN[@]}"; do
    test -f "$file" || return 1
    if "run_$FRAMEWORK" "$file"; then return 1; fi
  done
}
run_pytest() {
  as_agent python -m pytest "${OPTIONS[@]}" -- "$1"
}
run_tape() { as_agent node_modules/.bin/tape "$1"; }

answer() {
  if command -v node > /dev/null; then
    as_agent node /tests/answer.js "$ANSWER" /tests/answer.json
  else
    as_agent python /tests/answer.py "$ANSWER" /tests/answer.json
  fi
}

part collateral collateral
part commits commits
if test -s /tests/answer.json; then part answer answer; fi
part tests hidden
if test "${#OWN[@]}" -gt 0; then part own own; fi
all=$(IFS=,; echo "${parts[*]}")
if [[ $all == *": 0"* ]]; then reward=0; else reward=1; fi
echo "{\"reward\": $reward, $all}" | tee "$out/reward.json"
