#!/usr/bin/env bash
# Writes facts about a project to facts.json, for a script to use: structured-answer.sh [options of diligent]
set -u

cat > facts.schema.json <<'SCHEMA'
{
  "type": "object",
  "properties": { "language": { "type": "string" }, "hasTests": { "type": "boolean" } },
  "required": ["language", "hasTests"]
}
SCHEMA

diligent -p "Which language is this project written in, and does it have tests?" \
  --json-schema facts.schema.json --disallowed-tools bash,edit,write "$@" > facts.json < /dev/null

case $? in
  0) echo "facts.json is written" ;;
  2) echo "bad usage, no key or an unknown model: nothing was sent" >&2; exit 2 ;;
  3) echo "a limit was reached" >&2; exit 3 ;;
  *) echo "no answer that matches" >&2; exit 1 ;;
esac
