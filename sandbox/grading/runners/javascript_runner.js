'use strict';
// What the runners of JavaScript and TypeScript share. Laid into the container, owned by root.
// What a runner writes, and how it ends, stands in `frameworks/base.py`. The command that starts it
// has made descriptor 3 of standard output and sent what is printed to standard error.

const { EventEmitter } = require('events');
const { writeSync } = require('fs');
const inspector = require('inspector');
const Module = require('module');
const stream = require('stream');
const v8 = require('v8');
const threads = require('worker_threads');

const CHANNEL = 3;
const PRINTED = 2;
const LONGEST = 300;
const FINISHED = 16;
const STATUSES = 200;
const exit = process.reallyExit.bind(process);
const { stringify } = JSON;

// A value as people read it, on one line.
function shown(value) {
  return typeof value === 'function' ? 'a function' : String(stringify(value));
}

// Print why a test failed. It is for people alone: no outcome rests on it, and all are written by now,
// since a value of the candidate's may run code when it is looked at.
function explain(test, say) {
  try {
    writeSync(PRINTED, `${test}: ${say(shown).replace(/\s+/g, ' ').slice(0, LONGEST)}\n`);
  } catch {
    // It says nothing, then.
  }
}

// Outcomes by test; a name that comes again is told with its number. `say` gives the reason for one
// that failed, and is called with what makes text of a value.
function Outcomes(file) {
  const seen = new Map();
  const told = [];
  const reasons = [];
  return {
    add(name, outcome, say) {
      const count = (seen.get(name) || 0) + 1;
      seen.set(name, count);
      const test = `${file}::${name}${count > 1 ? ` #${count}` : ''}`;
      told.push({ test, outcome });
      if (say) {
        reasons.push([test, say]);
      }
    },
    // Write all, and end without what was registered for the exit.
    end() {
      let failed = 0;
      for (const line of told) {
        failed += line.outcome === 'failed' || line.outcome === 'error' ? 1 : 0;
        writeSync(CHANNEL, `${stringify(line)}\n`);
      }
      writeSync(CHANNEL, `${stringify({ end: told.length })}\n`);
      reasons.forEach(([test, say]) => explain(test, say));
      exit(FINISHED + failed % STATUSES);
    },
  };
}

// What libraries set to say where an error was made: V8's stack trace API.
const OF_TRACES = ['stackTraceLimit', 'prepareStackTrace'];

// Make an object's properties read-only. What inherits from it can still have its own: a property
// that is merely read-only would forbid that too.
function lock(object) {
  for (const key of Reflect.ownKeys(object)) {
    const { value, writable, configurable, enumerable } = Object.getOwnPropertyDescriptor(object, key);
    if (writable && configurable && !OF_TRACES.includes(key)) {
      Object.defineProperty(object, key, {
        configurable: false,
        enumerable,
        get: () => value,
        set(own) {
          if (this === object) {
            throw new TypeError(`${String(key)} is the runner's`);
          }
          Object.defineProperty(this, key, { value: own, writable: true, enumerable: true, configurable: true });
        },
      });
    }
  }
  Object.preventExtensions(object);
}

// Keep the entries of a table as they are; others may still be added.
function pin(table, keys) {
  for (const key of keys) {
    if ('value' in Object.getOwnPropertyDescriptor(table, key)) {
      Object.defineProperty(table, key, { writable: false, configurable: false });
    }
  }
}

// What reaches into closures and into the heap, or runs machine code. A thread of its own could
// inspect this one, so there are none.
const WITHHELD = [
  [process, ['binding', '_linkedBinding', '_debugProcess', 'dlopen']],
  [inspector, ['Session', 'open']],
  [v8, ['setFlagsFromString', 'queryObjects']],
  [threads, ['Worker']],
];

function withhold() {
  const value = () => {
    throw new Error('withheld while tests are graded');
  };
  for (const [object, names] of WITHHELD) {
    for (const name of names.filter((each) => each in object)) {
      Object.defineProperty(object, name, { value, writable: false, configurable: false });
    }
  }
  // Node's own answer to this signal is to listen for a debugger.
  process.on('SIGUSR1', () => {});
}

const { Duplex, PassThrough, Readable, Stream, Transform, Writable } = stream;
const STREAMS = [Stream, Readable, Writable, Duplex, Transform, PassThrough];
// What a test looks at the world with: a candidate that replaces it answers for the world.
const CORE = [
  'assert', 'assert/strict', 'buffer', 'child_process', 'crypto', 'fs', 'fs/promises', 'module', 'os',
  'path', 'path/posix', 'querystring', 'string_decoder', 'url', 'util', 'vm',
].filter((name) => Module.builtinModules.includes(name));
const LOCKED = [EventEmitter, ...STREAMS, Module, Module._extensions, ...CORE.map((name) => require(`node:${name}`))];

// Lock an object with its prototype, or what it makes.
function lockWhole(object) {
  if (typeof object === 'function' && object.prototype) {
    lock(object.prototype);
  }
  if (typeof object === 'function' || (typeof object === 'object' && object !== null)) {
    lock(object);
  }
}

// The language's own objects, and prototypes that have no name.
function lockIntrinsics() {
  const nameless = [
    Object.getPrototypeOf(Int8Array),
    Object.getPrototypeOf(async () => {}).constructor,
    Object.getPrototypeOf(function* () {}).constructor,
    ...[[], new Map(), new Set(), ''].map((each) => Object.getPrototypeOf(each[Symbol.iterator]())),
  ];
  const named = Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]/.test(name));
  named.forEach((name) => lockWhole(globalThis[name]));
  nameless.forEach(lockWhole);
}

function pinGlobals(spared = []) {
  const named = Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]/.test(name));
  pin(globalThis, named.filter((name) => !spared.includes(name)));
}

// Lock all that has been loaded so far, and what loads modules, before the candidate is. Tests that
// set the clock have the globals that are spared replaced.
function lockLoaded(more = [], spared = []) {
  withhold();
  const loaded = Object.entries(require.cache).filter(([, module]) => module.loaded);
  const exported = loaded.map(([, module]) => module.exports);
  [...exported, ...LOCKED, ...more].forEach(lockWhole);
  pinGlobals(spared);
  loaded.forEach(([, module]) => Object.freeze(module));
  pin(require.cache, loaded.map(([file]) => file));
  pin(Module._pathCache, Object.keys(Module._pathCache));
}

module.exports = { Outcomes, lock, lockIntrinsics, lockLoaded, pin };
