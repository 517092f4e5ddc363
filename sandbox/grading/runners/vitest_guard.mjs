// Runs the tests of one file in a process that vitest starts for it: its option `runner`,
// https://vitest.dev/advanced/runner. `vitest_runner.mjs` hears of the outcomes, and is in another process.
//
// The candidate is loaded here. What vitest judges with is locked before; whether a test's function came
// to its end is kept where nobody else sees it, and a test that passed without ends the process.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const load = createRequire(import.meta.url);
const { lock, lockIntrinsics, lockLoaded, pin } = load('./javascript_runner.js');
const installed = (file) => import(pathToFileURL(path.resolve('node_modules', file)).href);
const { VitestTestRunner } = await installed('vitest/dist/runners.js');
const { getFn, setFn } = await installed('@vitest/runner/dist/index.js');
const vitest = await installed('vitest/dist/index.js');

const CAUGHT = 97;
// Values that are looked at, of what a test got.
const MOST = 10_000;
// Assertions that compare by equality.
const COMPARING = /^(to(Strict)?Equal|toMatchObject|toContainEqual|toHaveProperty|to\w*Called\w*With|to\w*ReturnedWith|to\w*ResolvedWith|eql?|equals?|deep)$/;
const exit = process.reallyExit.bind(process);
const { defineProperty, freeze, getOwnPropertySymbols, getPrototypeOf } = Object;
const { apply } = Reflect;
// What decides how a test is called and what its end means.
const DECIDING = ['name', 'id', 'type', 'fails', 'file', 'suite', 'retry', 'repeats', 'each'];
// Fake timers put others in the place of these.
const OF_THE_CLOCK = ['Date', 'Intl'];

// What sends outcomes to the other process.
function lockChannel() {
  pin(process, ['send', '_send'].filter((name) => name in process));
  const channel = getOwnPropertySymbols(process).find((each) => String(each).includes('kChannelHandle'));
  if (channel) {
    const methods = getPrototypeOf(process[channel]);
    pin(methods, Object.getOwnPropertyNames(methods));
  }
  const worker = globalThis.__vitest_worker__;
  pin(worker, ['rpc', 'ctx', 'config']);
  pin(globalThis, ['__vitest_worker__']);
}

// What a value is made of; a part that cannot be read is left out, as it would break a comparison, too.
function partsOf(value) {
  const parts = [];
  const add = (read) => {
    try {
      parts.push(...read());
    } catch {
      // It is not there, then.
    }
  };
  if (typeof value === 'function') {
    add(() => [value.mock?.calls, value.mock?.results]);
  } else if (value instanceof Map || value instanceof Set) {
    add(() => [...value].flat());
  } else if (!ArrayBuffer.isView(value)) {
    Reflect.ownKeys(value).forEach((key) => add(() => [value[key]]));
  }
  return parts;
}

function decidesItself(value) {
  try {
    return 'asymmetricMatch' in value;
  } catch {
    return false;
  }
}

// Equality asks a value whether it equals another, where it says that it can tell (`asymmetricMatch`). What a
// test expects may; what it got may not.
function refuseMatchers(got) {
  const left = [got];
  const seen = new Set();
  while (left.length > 0 && seen.size < MOST) {
    const value = left.pop();
    const whole = (typeof value === 'object' && value !== null) || typeof value === 'function';
    if (whole && !seen.has(value)) {
      seen.add(value);
      if (decidesItself(value)) {
        throw new vitest.chai.AssertionError('the value decides itself what it equals');
      }
      left.push(...partsOf(value));
    }
  }
}

function watchMatchers() {
  const { Assertion, util } = vitest.chai;
  const names = Object.getOwnPropertyNames(Assertion.prototype).filter((name) => COMPARING.test(name));
  for (const name of names.filter((each) => typeof Object.getOwnPropertyDescriptor(Assertion.prototype, each).value === 'function')) {
    Assertion.overwriteMethod(name, (real) => function watched(...given) {
      refuseMatchers(util.flag(this, 'object'));
      return real.apply(this, given);
    });
  }
}

// Tests may add assertions of their own, so these stay open.
function lockAssertions(file, config) {
  const { chai, expect } = vitest;
  watchMatchers();
  for (const object of [chai.Assertion.prototype, chai.Assertion, expect]) {
    for (const key of Reflect.ownKeys(object)) {
      const { configurable, writable } = Object.getOwnPropertyDescriptor(object, key);
      if (configurable) {
        defineProperty(object, key, { configurable: false, ...(writable && { writable: false }) });
      }
    }
  }
  const matchers = globalThis[Symbol.for('$$jest-matchers-object')];
  if (config.setupFiles.length === 0 && !readFileSync(file, 'utf8').includes('addEqualityTesters')) {
    freeze(matchers.customEqualityTesters);
  }
  pin(matchers, Object.keys(matchers));
}

// Where vitest keeps the functions of tests each is put once.
function lockFunctions() {
  const { has, set } = WeakMap.prototype;
  let kept;
  WeakMap.prototype.set = function learn(...given) {
    kept = this;
    return apply(set, this, given);
  };
  setFn({}, () => {});
  WeakMap.prototype.set = set;
  const value = (test, run) => {
    if (apply(has, kept, [test])) {
      exit(CAUGHT);
    }
    return apply(set, kept, [test, run]);
  };
  defineProperty(kept, 'set', { value });
}

// What has been loaded by now is what is found later, whatever stands in the table then.
function lockModules(modules) {
  const known = new Map([...modules].filter(([, entry]) => entry.exports));
  known.forEach((_, id) => modules.getByModuleId(id));
  known.forEach((entry) => pin(entry, ['exports', 'promise'].filter((name) => name in entry)));
  const find = modules.getByModuleId;
  defineProperty(modules, 'getByModuleId', { value: (id) => known.get(id) ?? apply(find, modules, [id]) });
}

// The runner itself, and what its classes have. Vitest gives it some methods later.
function lockRunner(runner) {
  for (const name of Object.getOwnPropertyNames(Guard.prototype)) {
    defineProperty(runner, name, { value: runner[name], writable: false, configurable: false });
  }
  for (let of = getPrototypeOf(runner); of !== Object.prototype; of = getPrototypeOf(of)) {
    lock(of);
  }
}

function lockAll(file, runner) {
  lockFunctions();
  lockModules(globalThis.__vitest_worker__.moduleCache);
  lockRunner(runner);
  lockIntrinsics();
  lockLoaded([vitest.chai.AssertionError], OF_THE_CLOCK);
  lockAssertions(file, runner.config);
  lockChannel();
}

function testsOf({ tasks = [] }) {
  return tasks.flatMap((task) => (task.type === 'suite' ? testsOf(task) : [task]));
}

export default class Guard extends VitestTestRunner {
  #locked = false;

  #kept = new Map();

  async importFile(file, source) {
    if (!this.#locked) {
      this.#locked = true;
      await this.__vitest_executor.executeId('vitest');
      lockAll(file, this);
    }
    return super.importFile(file, source);
  }

  onCollected(files) {
    for (const test of files.flatMap(testsOf)) {
      this.#kept.set(test, { run: getFn(test), ended: false });
      pin(test, DECIDING.filter((name) => name in test));
    }
    return super.onCollected?.(files);
  }

  async runTask(test) {
    const kept = this.#kept.get(test);
    if (!kept) {
      exit(CAUGHT);
    }
    kept.ended = false;
    await kept.run();
    kept.ended = true;
  }

  async onAfterRunTask(test) {
    await super.onAfterRunTask(test);
    const { fails } = test;
    // Read once: what can be asked again may answer otherwise.
    const result = { ...test.result };
    if (result.state === 'pass' && !fails && !this.#kept.get(test)?.ended) {
      exit(CAUGHT);
    }
    defineProperty(test, 'result', { value: freeze(result), writable: false, configurable: false });
  }
}
