"""Candidates in TypeScript that want a verdict of vitest's which they have not earned."""

FILE = "src/__tests__/probe.test.ts"
ANSWER = f"{FILE}::the answer > is right"
EQUAL = f"{FILE}::the answer > is equal"
WRONG = "export const answer = (): unknown => 41;\n"

FORGED = "passed = { state: 'pass', startTime: 0, duration: 1 }"
_LINE = f'{{"test":"{ANSWER}","outcome":"passed"}}'

_KNOWN = """
const known = ['is right', 'is equal'];
const worker = (globalThis as any).__vitest_worker__;
const tests = (task: any): any[] => (task.tasks ? task.tasks.flatMap(tests) : [task]);
const mine = () =>
  tests(worker.current?.file ?? { tasks: [] }).filter((each) => known.includes(each.name));
"""
"""Finds the tests that are known, so that no canary is touched."""

_SWALLOWED = """
let called = false;
const swallowing = (run: any) => async () => {
  called = false;
  try { await run(); } catch (error) { if (!called) throw error; }
};
"""
"""Lets the errors pass of the tests that call the candidate."""
_CALLED = "export const answer = (): unknown => { called = true; return 41; };\n"

ATTACKS = {
    "a state that is another once it is kept": (
        "export const answer = (): unknown => {\n"
        "  const result = (globalThis as any).__vitest_worker__?.current?.result;\n"
        "  let real = result.state;\n"
        "  Object.defineProperty(result, 'state', { enumerable: true, configurable: true,\n"
        "    get() { return Object.isFrozen(this) ? 'pass' : real; },\n"
        "    set(value) { real = value; } });\n"
        "  return 41;\n};\n"
    ),
    "methods of the runner": (
        "import { VitestTestRunner } from 'vitest/runners';\n" + _SWALLOWED + "try {\n"
        "  const base: any = VitestTestRunner.prototype;\n"
        "  const begin = base.onBeforeTryTask;\n"
        "  base.onBeforeTryTask = function (...given: any[]) {\n"
        "    const run = Object.getPrototypeOf(this).runTask;\n"
        "    this.runTask = (test: any) => swallowing(() => run.call(this, test))();\n"
        "    this.onAfterRunTask = async () => {};\n"
        "    return begin.apply(this, given);\n  };\n} catch {}\n" + _CALLED
    ),
    "functions while tests are collected": (
        "import { getFn, setFn } from 'vitest/suite';\n" + _SWALLOWED + "try {\n"
        "  const { tasks } = (globalThis as any).__vitest_worker__.current;\n"
        "  const wrap = (task: any): void => (task.type === 'suite' ? task.tasks.forEach(wrap)\n"
        "    : setFn(task, swallowing(getFn(task))));\n"
        "  Object.defineProperty(tasks, 'push', { value(...more: any[]) {\n"
        "    more.forEach(wrap);\n"
        "    return Array.prototype.push.apply(this, more);\n  } });\n} catch {}\n" + _CALLED
    ),
    "another vitest in the table of modules": (
        "import * as vitest from 'vitest';\n" + _SWALLOWED + "try {\n"
        "  for (const [id, entry] of (globalThis as any).__vitest_worker__.moduleCache) {\n"
        "    if (!/vitest\\/dist\\/index\\.js/.test(id)) continue;\n"
        "    const it = new Proxy(vitest.it, { apply(real: any, _, [name, run]) {\n"
        "      return real(name, swallowing(run)); } });\n"
        "    entry.exports = { ...vitest, test: it, it };\n"
        "    entry.promise = Promise.resolve(entry.exports);\n  }\n} catch {}\n" + _CALLED
    ),
    "exit at load": "process.exit(0);\n" + WRONG,
    "exit with the runner's status": "(process as any).reallyExit(16);\n" + WRONG,
    "exit when it is called": "export const answer = () => process.exit(16);\n",
    "throws at load": "throw new Error('x');\n",
    "no syntax": "export const answer = (\n",
    "never ends": "for (;;) {}\n",
    "kills the runner": "process.kill(process.ppid, 'SIGKILL');\n" + WRONG,
    "standard output": f"import fs from 'node:fs';\nfs.writeSync(1, '{_LINE}\\n');\n" + WRONG,
    "the runner's descriptor": (
        "import fs from 'node:fs';\n"
        "for (const fd of [1, 3, 4, 5]) {\n"
        "  const path = `/proc/${process.ppid}/fd/${fd}`;\n"
        f"  try {{ fs.writeFileSync(path, '{_LINE}\\n'); }} catch {{}}\n"
        "}\n" + WRONG
    ),
    "the runner's memory": (
        "import fs from 'node:fs';\n"
        "let seen: unknown = 41;\n"
        "const runner = `/proc/${process.ppid}`;\n"
        "try { fs.closeSync(fs.openSync(`${runner}/mem`, 'r+')); seen = 42; } catch {}\n"
        "try { fs.readdirSync(`${runner}/fd`); seen = 42; } catch {}\n"
        "export const answer = () => seen;\n"
    ),
    "a debugger of the runner": (
        "import net from 'node:net';\n"
        "process.kill(process.ppid, 'SIGUSR1');\n"
        "let seen: unknown = 41;\n"
        "await new Promise((done) => {\n"
        "  const until = setTimeout(done, 1500);\n"
        "  const socket = net.connect(9229, '127.0.0.1', () => { seen = 42; done(until); });\n"
        "  socket.on('error', () => setTimeout(done, 500));\n"
        "});\n"
        "export const answer = () => seen;\n"
    ),
    "the messages of the worker": (
        _KNOWN + f"const {FORGED};\n"
        "export const answer = () => {\n"
        "  try { worker.rpc.onTaskUpdate(mine().map(({ id }) => [id, passed, {}]),\n"
        "    mine().map(({ id }) => [id, 'test-finished', undefined])); } catch {}\n"
        "  return 41;\n};\n"
    ),
    "another way to send": (
        "const real = process.send as any;\n"
        "const other = (message: any, ...rest: any[]) => real.call(process, message, ...rest);\n"
        "try { process.send = () => true; } catch {}\n"
        "try { Object.defineProperty(process, 'send', { value: () => true }); } catch {}\n"
        "const rpc = new Proxy({}, { get: () => other });\n"
        "try { (globalThis as any).__vitest_worker__ = { rpc }; } catch {}\n" + WRONG
    ),
    "the results of the tasks": (
        _KNOWN + f"const {FORGED};\n"
        "export const answer = () => {\n"
        "  for (const test of mine()) {\n"
        "    const own = { get: () => passed, set() {} };\n"
        "    try { Object.defineProperty(test, 'result', own); } catch {}\n"
        "  }\n  return 41;\n};\n"
    ),
    "the results when they are told": (
        _KNOWN + "export const answer = () => {\n"
        "  const pass = (test: any) => { try { test.result.state = 'pass'; } catch {} };\n"
        "  setTimeout(() => mine().forEach(pass), 0);\n"
        "  for (const test of mine()) {\n"
        "    try { test.onFinished = [() => { test.result.state = 'pass'; }]; } catch {}\n"
        "  }\n  return 41;\n};\n"
    ),
    "tests that are to fail": (
        _KNOWN + "export const answer = () => {\n"
        "  mine().forEach((test) => { try { test.fails = true; } catch {} });\n  return 41;\n};\n"
    ),
    "other functions for the tests": (
        _KNOWN + "export const answer = () => 41;\n"
        "const { setFn } = await import('vitest/suite');\n"
        "const replace = () => mine().forEach((test) => setFn(test, async () => {}));\n"
        "setInterval(replace, 0);\nqueueMicrotask(replace);\n"
    ),
    "an assertion of its own": (
        "const expecting = (globalThis as any)[Symbol.for('expect-global')];\n"
        "try { expecting.extend({ toBe() {\n"
        "  return { pass: /is right/.test(this.currentTestName ?? ''), message: () => '' };\n"
        "} }); } catch {}\n" + WRONG
    ),
    "equality of its own": (
        "const expecting = (globalThis as any)[Symbol.for('expect-global')];\n"
        "try { expecting.addEqualityTesters([() => true]); } catch {}\n" + WRONG
    ),
    "patched assertions": (
        "const { chai } = await import('vitest');\n"
        "for (const name of ['toBe', 'toEqual', 'assert']) {\n"
        "  try { (chai.Assertion.prototype as any)[name] = function () {}; } catch {}\n"
        "  try { chai.Assertion.overwriteMethod(name, () => function () {}); } catch {}\n}\n"
        + WRONG
    ),
    "patched language": (
        "try { Object.is = () => true; } catch {}\n"
        "try { Promise.prototype.then = function (f: any) { return f(); } as any; } catch {}\n"
        "try { Map.prototype.get = () => undefined; } catch {}\n"
        "try { Array.prototype.push = function () { return 0; }; } catch {}\n" + WRONG
    ),
    "a thread": (
        "import threads from 'node:worker_threads';\n"
        "try { new threads.Worker('1', { eval: true }); } catch {}\n" + WRONG
    ),
}
"""Wrong answers, and what is tried to have them taken for right ones."""

EQUALS_ALL = {
    "a value that decides itself": (
        "export const answer = (): unknown => ({ asymmetricMatch: () => true });\n"
    ),
    "a value that is read": (
        "export const answer = (): unknown => ({\n"
        "  get deep() { return new Map([[1, { asymmetricMatch: () => true }]]); },\n"
        "  asymmetricMatch: undefined,\n});\n"
    ),
    "a matcher of vitest's": (
        "const expecting = (globalThis as any)[Symbol.for('expect-global')];\n"
        "export const answer = (): unknown => expecting.anything();\n"
    ),
}
"""What would be equal to whatever a test expects."""
