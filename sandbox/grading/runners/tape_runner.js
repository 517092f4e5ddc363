'use strict';
// Runs one file of tape's tests in the grading container: `node tape_runner.js FILE [open]`. With `open`
// nothing is locked.

const Module = require('module');
const path = require('path');
const { Outcomes, lockLoaded, pin } = require('./javascript_runner.js');

const LOST = 98;
const exit = process.reallyExit.bind(process);
const [file, open] = process.argv.slice(2);
const place = path.resolve(file);
const load = Module.createRequire(place);
if (!load.resolve('tape').startsWith(path.resolve('node_modules/tape') + path.sep)) {
  throw new Error('tape is not the one of the image');
}
const tape = load('tape');
const keep = open ? () => 0 : keepAssertions(tape.Test.prototype);
const outcomes = Outcomes(file);
const tests = new Map();
// Assertions that failed, of those that tape has told.
let shown = 0;

// Count what has failed where it is asserted, whatever comes of that later, and keep the methods of a
// test, once it runs, as they are. Tests may say themselves what their end is.
function keepAssertions(methods) {
  const { _assert, run } = methods;
  const names = Reflect.ownKeys(methods).filter((name) => typeof methods[name] === 'function' && name !== 'end');
  let failures = 0;
  methods._assert = function assert(ok, more) {
    if (!ok && !more?.extra?.skip) {
      failures += 1;
    }
    return Reflect.apply(_assert, this, [ok, more]);
  };
  methods.run = function begin() {
    names.forEach((name) => Object.defineProperty(this, name, { value: this[name], writable: false, configurable: false }));
    return Reflect.apply(run, this, []);
  };
  return () => failures;
}

function outcomeOf({ ended, parent, assertions }) {
  if (assertions.some(({ ok, todo }) => !ok && !todo)) {
    return 'failed';
  }
  if (!ended || (assertions.length === 0 && !parent)) {
    return 'error';
  }
  if (assertions.some(({ skip }) => skip)) {
    return 'skipped';
  }
  const expected = assertions.filter(({ todo }) => todo);
  return expected.length === 0 ? 'passed' : expected.every(({ ok }) => ok) ? 'xpassed' : 'xfailed';
}

// Rows as tape gives them: a test begins, its assertions, it ends; some assertions come behind.
function take(row) {
  const test = tests.get(row.type === 'test' ? row.parent : row.test);
  if (row.type === 'test') {
    const { name, skip, todo } = row;
    const full = test ? `${test.name} > ${name}` : name;
    tests.set(row.id, { name: full, skip, todo, ended: false, parent: false, assertions: [] });
    if (test) {
      test.parent = true;
    }
  } else if (row.type === 'assert' && test) {
    const { ok, skip, todo, name, expected, actual, error } = row;
    shown += ok ? 0 : 1;
    test.assertions.push({ ok, skip: skip || test.skip, todo: todo || test.todo });
    if (!ok && !test.say) {
      test.say = (shown) =>
        'expected' in row || 'actual' in row
          ? `${name}: expected ${shown(expected)}, got ${shown(actual)}`
          : `${name}${error ? `: ${error.message}` : ''}`;
    }
  } else if (row.type === 'end' && test) {
    test.ended = true;
  }
}

tape.createStream({ objectMode: true })
  .on('data', take)
  .on('end', () => {
    if (!open && keep() !== shown) {
      exit(LOST);
    }
    tests.forEach((test) => outcomes.add(test.name, outcomeOf(test), test.say));
    outcomes.end();
  });

if (!open) {
  // Who loads parts of tape gets others: a function of ours would say who has called it.
  const parts = Object.keys(require.cache).filter((each) => each.startsWith(path.resolve('node_modules/tape/lib') + path.sep));
  const exported = parts.map((each) => require.cache[each].exports);
  parts.forEach((each) => delete require.cache[each]);
  tape.Test = load(parts.find((each) => each.endsWith(path.join('lib', 'test.js'))));
  // A module's own `require` is this one.
  pin(Module.prototype, ['require']);
  lockLoaded(exported);
}
load(place);
