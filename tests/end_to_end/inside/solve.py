"""An agent for the container: does what a script of actions says, by its own means."""

import json
import os
import pathlib
import subprocess
import sys


def shell(line: str, text: str = "") -> None:
    subprocess.run(["bash", "-c", line], input=text.encode(), check=False)


tests, *actions = json.loads((pathlib.Path(__file__).parent / "script.json").read_text())
for action in actions:
    arguments = action["arguments"]
    match action["action"]:
        case "apply_patch":
            shell("git apply --unidiff-zero -", arguments["patch"])
        case "write_file":
            file = pathlib.Path(arguments["path"])
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(arguments["content"])
        case "run_tests":
            shell(arguments.get("command", tests))
        case "run_command":
            shell(arguments["command"])
        case "final_answer":
            answer = json.dumps(arguments["fields"])
            pathlib.Path(os.environ["SANDBOX_ANSWER"]).write_text(answer)
sys.stdout.write("done\n")
