"""Candidates in JavaScript that want a verdict which they have not earned."""

from collections.abc import Mapping

FILE = "test/probe.js"
ANSWER = f"{FILE}::the answer is right"
WRONG = "module.exports = function () { return 41; };\n"

EXITS = {
    "exit at load": "process.exit(0);\n",
    "exit at load with the runner's status": "process.reallyExit(16);\n",
    "exit when it is called": "module.exports = function () { process.exit(16); };\n",
    "exit at the exit": "process.on('exit', function () { process.reallyExit(16); });\n" + WRONG,
    "throws at load": "throw new Error('x');\n",
    "no syntax": "module.exports = function (\n",
    "never ends": "setInterval(function () {}, 1000); while (true) {}\n",
}

FIRST = f'{{"test":"{ANSWER}","outcome":"passed"}}'
FORGERIES = {
    "fake TAP": (
        "console.log('TAP version 13\\n# the answer is right\\nok 1\\n\\n1..1\\n# pass 1');\n"
    ),
    "standard output": f"process.stdout.write('{FIRST}\\n'); console.log('{{\"end\":1}}');\n",
    "every descriptor but the channel": (
        f"[1, 2].forEach(function (fd) {{ require('fs').writeSync(fd, '{FIRST}\\n'); }});\n"
    ),
    "patched write": (
        "var fs = require('fs'); var write = fs.writeSync;\n"
        "fs.writeSync = function (fd, text) {\n"
        "  return write(fd, String(text).replace('failed', 'passed'));\n};\n"
    ),
    "patched JSON": "try { JSON.stringify = function () { return '{}'; }; } catch (e) {}\n",
    "patched exit": "process.reallyExit = process.exit = function () {};\n",
    "patched prototypes": (
        "try { Array.prototype.some = function () { return false; }; } catch (e) {}\n"
        "try { Object.is = function () { return true; }; } catch (e) {}\n"
        "try { Error.prototype.message = ''; } catch (e) {}\n"
    ),
    "patched emitter": (
        "var Emitter = require('events').EventEmitter; var emit = Emitter.prototype.emit;\n"
        "try { Emitter.prototype.emit = function (name, row) {\n"
        "  if (row && row.ok === false) { row.ok = true; }\n"
        "  return emit.apply(this, arguments);\n}; } catch (e) {}\n"
    ),
    "replaced in the cache": (
        "var fake = function (name, body) { };\n"
        "['tape', 'assert', 'node:assert', 'node:test'].forEach(function (name) {\n"
        "  try { require.cache[require.resolve(name)].exports = fake; } catch (e) {}\n"
        "  try { delete require.cache[require.resolve(name)]; } catch (e) {}\n"
        "  try { require.cache[require.resolve(name)] = { exports: fake }; } catch (e) {}\n"
        "});\n"
    ),
    "another loader": (
        "var Module = require('module'); var load = Module._load;\n"
        "var fake = new Proxy(function () {}, { get: function () { return fake; } });\n"
        "try { Module._load = function (name) {\n"
        "  return /tape|assert|test/.test(name) ? fake : load.apply(this, arguments);\n"
        "}; } catch (e) {}\n"
        "try { Module.prototype.require = Module._load; } catch (e) {}\n"
    ),
    "another place": (
        "var Module = require('module');\n"
        "Object.keys(Module._pathCache).forEach(function (key) {\n"
        "  if (!/tape/.test(key)) { return; }\n"
        "  try { Module._pathCache[key] = __filename; } catch (e) {}\n});\n"
    ),
    "patched assert": (
        "var assert = require('assert');\n"
        "[assert, assert.strict].forEach(function (one) {\n"
        "  Object.keys(one).forEach(function (name) {\n"
        "    try { one[name] = function () {}; } catch (e) {}\n  });\n});\n"
    ),
    "patched tape": (
        "try {\n  var Test = require('tape').Test;\n"
        "  Test.prototype._assert = function () { this.emit('result', { ok: true }); };\n"
        "  Test.prototype.equal = Test.prototype.deepEqual = function () { this.pass(); };\n"
        "} catch (e) {}\n"
    ),
    "one line on the channel": f"require('fs').writeSync(3, '{FIRST}\\n');\n",
    "all lines on the channel": (
        f"require('fs').writeSync(3, '{FIRST}\\n{{\"end\":1}}\\n'); process.reallyExit(16);\n"
    ),
    "swallowed exceptions": "process.on('uncaughtException', function () {});\n",
}


REFUSED = {"patched write"}
"""What cannot even be loaded: what it replaces is the runner's."""

HARMLESS = FORGERIES.keys() - {"one line on the channel", "all lines on the channel"} - REFUSED
"""What comes to nothing: the test ends as if it were not there."""

CALLED = """
var called = false;
module.exports = function () {
  called = true;
  setImmediate(function () { called = false; });
  return 41;
};
"""
FORGE = """
function forge(session) {
  var post = function (method, params, then) {
    session.post(method, params, function (error, answer) { if (then) { then(answer); } });
  };
  post('Runtime.evaluate', { expression: 'Map.prototype' }, function (map) {
    var wanted = { prototypeObjectId: map.result.objectId };
    post('Runtime.queryObjects', wanted, function (found) {
      post('Runtime.callFunctionOn', {
        objectId: found.objects.objectId,
        functionDeclaration: String(function () {
          this.forEach(function (each) {
            var last = Array.from(each.values()).pop();
            if (last && last.assertions) {
              last.assertions.forEach(function (one) { one.ok = true; });
            }
          });
        })
      });
    });
  });
}
"""
"""Finds the runner's own table of tests in the heap."""

HEAP = (
    FORGE
    + """
module.exports = function () {
  setImmediate(function () {
    try {
      %s
      forge(session);
    } catch (e) {}
  });
  return 41;
};
"""
)
THREAD = (
    FORGE
    + """
var threads = require('worker_threads');
if (threads.isMainThread) {
  try { new threads.Worker(__filename); } catch (e) {}
  module.exports = function () {
    setImmediate(function () {
      var until = Date.now() + 400;
      while (Date.now() < until) {}
    });
    return 41;
  };
} else {
  var session = new (require('inspector').Session)();
  session.connectToMainThread();
  setInterval(function () { forge(session); }, 10);
}
"""
)
SESSION = "var session = new (require('inspector').Session)(); session.connect();"
BINDING = """
      var id = 0; var waiting = {};
      var Connection = process.binding('inspector').Connection;
      var connection = new Connection(function (text) {
        var message = JSON.parse(text);
        if (waiting[message.id]) { waiting[message.id](null, message.result); }
      });
      var session = { post: function (method, params, then) {
        id += 1; waiting[id] = then;
        connection.dispatch(JSON.stringify({ id: id, method: method, params: params }));
      } };
"""
SPARING = {
    "tape": {
        "inspector": HEAP % SESSION,
        "inspector's binding": HEAP % BINDING,
        "inspector in a thread": THREAD,
        "emitter": """
var Emitter = require('events').EventEmitter;
var emit = Emitter.prototype.emit;
try {
  Emitter.prototype.emit = function (name, row) {
    if (called && row && row.ok === false) { row.ok = true; }
    return emit.apply(this, arguments);
  };
} catch (e) {}
""",
        "tape": """
var Test = require('tape').Test;
var check = Test.prototype._assert;
try {
  Test.prototype._assert = function (ok, more) { return check.call(this, ok || called, more); };
} catch (e) {}
""",
        "who calls a test's class": """
var harness;
module.exports = function () {
  try {
    var tape = require('tape');
    var Test = tape.Test || require('tape/lib/test');
    if (!harness) {
      try {
        tape('x', { get skip() { harness = Test.caller; throw new Error('enough'); } });
      } catch (e) {}
    }
    var test = harness._tests.filter(function (each) { return !each.ended; })[0];
    var check = test._assert;
    test._assert = function (ok, more) { return check(true, more); };
  } catch (e) {}
  return 41;
};
""",
        "another require for the tests": """
module.exports = function () { called = true; return 41; };
var called = false;
var load = module.parent && module.parent.require;
try {
  module.parent.require = function (id) {
    var found = load.call(this, id);
    return id === 'tape' ? function (name, run) {
      return found(name, function (t) {
        var check = t._assert;
        t._assert = function (ok, more) { return check(ok || called, more); };
        called = false;
        return run.call(this, t);
      });
    } : found;
  };
} catch (e) {}
""",
        "intrinsics": """
var Native = Boolean;
try {
  Boolean = function (value) { return Native(value || called); };
} catch (e) {}
""",
    },
    "node:test": {
        "streams": """
var stream = require('stream');
[stream.Readable, stream.Duplex, stream.Transform].forEach(function (kind) {
  ['push', 'read', 'emit'].forEach(function (name) {
    var given = kind.prototype[name];
    try {
      kind.prototype[name] = function (event) {
        if (called && event && event.type === 'test:fail') { event.type = 'test:pass'; }
        return given.apply(this, arguments);
      };
    } catch (e) {}
  });
});
""",
        "assert": """
var assert = require('assert');
Object.keys(assert).forEach(function (name) {
  var check = assert[name];
  try {
    assert[name] = function () { return called || check.apply(this, arguments); };
  } catch (e) {}
});
""",
    },
}
"""Attacks that leave the canaries alone: they forge only right behind a call of the candidate."""

Key = tuple[str, str]
ATTACKS: Mapping[Key, str] = {
    **{(framework, name): EXITS[name] for framework in SPARING for name in EXITS},
    **{(framework, name): FORGERIES[name] + WRONG for framework in SPARING for name in FORGERIES},
    **{
        (framework, name): attack if "module.exports" in attack else CALLED + attack
        for framework, attacks in SPARING.items()
        for name, attack in attacks.items()
    },
}
