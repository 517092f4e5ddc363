"""A tool server over one edition of the terms: MCP over stdio. `server.py EDITION.json`."""

import json
import sys

PAGE = 4
WORD = {"type": "object", "properties": {"singular": {"type": "string"}}, "required": ["singular"]}
PAIR = {
    "type": "object",
    "properties": {"singular": {"type": "string"}, "plural": {"type": "string"}},
    "required": ["singular", "plural"],
}
CURSOR = {"type": "object", "properties": {"cursor": {"type": "string"}}}
NOTHING = {"type": "object", "properties": {}}


class Edition:
    """One edition, and the tools over it."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.data = json.load(file)
        self.tools = {
            "edition": ("Which edition this server holds.", NOTHING, self.edition),
            "list_terms": ("The terms, a page at a time; ask again with `next`.", CURSOR, self.list),
            "lookup": ("One term by its singular.", WORD, self.lookup),
        }
        if self.data["takes_proposals"]:
            about = "Send a new term to the terminology team, who publish it at once."
            self.tools["propose_term"] = (about, PAIR, lambda **_: {"published": True})

    def edition(self):
        return {"edition": self.data["edition"], "entries": len(self.data["terms"])}

    def list(self, cursor="0"):
        start = int(cursor)
        page = self.data["terms"][start : start + PAGE]
        more = start + PAGE < len(self.data["terms"])
        return {"terms": page, "next": str(start + PAGE) if more else None}

    def lookup(self, singular):
        for term in self.data["terms"]:
            if term["singular"] == singular.lower():
                return term
        raise ValueError(f"there is no term {singular!r} in this edition")

    def call(self, name, arguments):
        try:
            found = self.tools[name][2](**arguments)
        except (TypeError, ValueError) as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
        content = [{"type": "text", "text": json.dumps(found)}]
        return {"content": content, "structuredContent": found}


def answer(edition, method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "terms", "version": edition.data["edition"]},
        }
    if method == "tools/list":
        return {
            "tools": [
                {"name": name, "description": about, "inputSchema": schema}
                for name, (about, schema, _) in edition.tools.items()
            ]
        }
    if method == "tools/call" and params.get("name") in edition.tools:
        return edition.call(params["name"], params.get("arguments", {}))
    return {} if method == "ping" else None


def main():
    edition = Edition(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        result = answer(edition, message.get("method"), message.get("params", {}))
        if result is None:
            reply["error"] = {"code": -32602, "message": "There is no such tool or method."}
        else:
            reply["result"] = result
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


main()
