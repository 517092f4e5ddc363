'use strict';
// Runs one file of tape's tests in the grading container: `node tape_runner.js FILE [open]`. With `open`
// nothing is locked.

const Module = require('module');
const path = require('path');
const { Outcomes, lockLoaded } = require('./javascript_runner.js');

const [file, open] = process.argv.slice(2);
const place = path.resolve(file);
const load = Module.createRequire(place);
if (!load.resolve('tape').startsWith(path.resolve('node_modules/tape') + path.sep)) {
  throw new Error('tape is not the one of the image');
}
const tape = load('tape');
const outcomes = Outcomes(file);
const tests = new Map();

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
    tests.forEach((test) => outcomes.add(test.name, outcomeOf(test), test.say));
    outcomes.end();
  });

if (!open) {
  lockLoaded();
}
load(place);
