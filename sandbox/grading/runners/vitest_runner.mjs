// Runs vitest in the grading container: `sealed-node vitest_runner.mjs FOLDER CONFIG [open]`. FOLDER is the
// grader's, CONFIG a file of the worktree, `.` for whichever vitest finds there, or empty for none; with `open`
// nothing is locked.
// Descriptor 3 is the standard output that it was started with: what tests print goes to standard error.
//
// It never loads what it runs: vitest does so in a process for each file, with `vitest_guard.mjs`. What it
// hears and answers stands in `frameworks/base.py`. Nobody but root looks into this process, since nobody but
// root can read its program.

import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const FINISHED = 16;
const STATUSES = 200;
const UNFINISHED = 1;
const CHANNEL = 3;
const CHANNEL_LIMIT = 16 << 20;
const LOG_LIMIT = 256 << 10;
const LONGEST = 300;
// For what has no limit of its own: a machine may be slow.
const SECONDS = 60;
const NODE = '/usr/bin/node';
const FIRST_DRAWN = 10_100;

const [folder, config, open] = process.argv.slice(2);
const load = createRequire(import.meta.url);
const root = process.cwd();
const packages = path.join(root, 'node_modules');

if (process.getuid() < FIRST_DRAWN) {
  process.stderr.write('This kills all processes of its user, and is not run by this one.\n');
  process.exit(1);
}

// Node's own answer to this signal is to listen for a debugger.
process.on('SIGUSR1', () => {});

// What one run tells, by test.
class Told {
  begin() {
    this.ended = new Map();
    this.doubled = false;
    this.log = '';
  }

  onTestCaseResult(test) {
    this.doubled ||= this.ended.has(test.id);
    this.ended.set(test.id, test.result().state);
  }

  onUserConsoleLog({ content }) {
    this.say(content);
  }

  say(text) {
    this.log = (this.log + text).slice(-LOG_LIMIT);
  }

  // Whether a test ended once, and as it was told to.
  agrees(test) {
    const { state } = test.result();
    return !this.doubled && (state === 'skipped' || this.ended.get(test.id) === state);
  }
}

const WORDS = { passed: 'passed', failed: 'failed', skipped: 'skipped', pending: 'error' };
const told = new Told();
const { createVitest } = await import(pathToFileURL(path.join(packages, 'vitest/dist/node.js')).href);
const esbuild = load(createRequire(path.join(packages, 'vite/package.json')).resolve('esbuild'));
process.execPath = NODE;
const vitest = await createVitest(
  'test',
  {
    root,
    config: config === '.' ? undefined : config ? path.join(root, config) : false,
    watch: false,
    run: true,
    cache: false,
    update: false,
    color: false,
    reporters: [told],
    ...(open ? {} : { runner: path.join(folder, 'vitest_guard.mjs') }),
    pool: 'forks',
    poolOptions: { forks: { minForks: 0, maxForks: 1, isolate: true, execArgv: ['--no-warnings', '--no-addons'] } },
    testTimeout: SECONDS * 1000,
    hookTimeout: SECONDS * 1000,
    allowOnly: true,
    typecheck: { enabled: false },
    coverage: { enabled: false },
  },
  // Nothing but the configuration is executed here, which is the task's or the image's.
  { configLoader: 'runner', css: { postcss: {} }, envDir: folder, logLevel: 'silent', server: { watch: null, fs: { strict: false } } },
);

function messages(errors) {
  return errors.map((error) => String(error?.message ?? error).replace(/\s+/g, ' ').slice(0, LONGEST));
}

// Whether a hook of a suite that a test is in has failed, or its file.
function isAround(test) {
  let outer = test.parent;
  while (outer.type !== 'module' && outer.errors().length === 0) {
    outer = outer.parent;
  }
  return outer.errors().length > 0;
}

function lineOf(file, test, seen) {
  const name = test.fullName;
  const count = (seen.get(name) ?? 0) + 1;
  seen.set(name, count);
  const id = `${file}::${name}${count > 1 ? ` #${count}` : ''}`;
  const { state, errors } = test.result();
  messages(errors ?? []).forEach((message) => told.say(`${id}: ${message}\n`));
  return { test: id, outcome: isAround(test) ? 'error' : WORDS[state] };
}

// Run one file; whoever it left running is killed.
async function run(file) {
  told.begin();
  const project = vitest.getRootProject();
  const place = path.join(root, file);
  project.vite.moduleGraph.onFileChange(place);
  vitest.state.clearErrors();
  const ran = await vitest.runTestSpecifications([project.createSpecification(place)], false);
  const { unhandledErrors } = ran;
  const modules = ran.testModules.filter((module) => module.moduleId === place);
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
  messages([...suites.flatMap((suite) => suite.errors()), ...unhandledErrors]).forEach((message) => told.say(`${file}: ${message}\n`));
  const seen = new Map();
  const lines = tests.map((test) => lineOf(file, test, seen));
  const whole = unhandledErrors.length === 0 && tests.every((test) => told.agrees(test));
  const failed = lines.filter(({ outcome }) => outcome === 'failed' || outcome === 'error').length;
  const written = [...lines, ...(whole ? [{ end: lines.length }] : [])].map((line) => `${JSON.stringify(line)}\n`).join('');
  const outcomes = Buffer.from(written);
  return {
    status: whole ? FINISHED + (failed % STATUSES) : UNFINISHED,
    outcomes: outcomes.subarray(0, CHANNEL_LIMIT).toString('base64'),
    log: Buffer.from(told.log).toString('base64'),
    cut: outcomes.length > CHANNEL_LIMIT,
  };
}

// The compiler is a process of this user as well, and is started anew when it is needed.
async function killOthers() {
  await esbuild.stop();
  try {
    process.kill(-1, 'SIGKILL');
  } catch {
    // There is none.
  }
}

function say(line) {
  for (let rest = Buffer.from(line); rest.length;) {
    rest = rest.subarray(writeSync(CHANNEL, rest));
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  const [file] = JSON.parse(line);
  const answer = await run(file);
  await killOthers();
  say(`${JSON.stringify(answer)}\n`);
}
process.exit(0);
