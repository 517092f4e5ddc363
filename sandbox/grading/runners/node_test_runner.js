'use strict';
// Loaded before a file of node's own tests: `node --require node_test_runner.js FILE`.

const assert = require('assert');
const test = require('node:test');
const { lockLoaded } = require('./javascript_runner.js');

lockLoaded([assert, assert.strict, assert.AssertionError, test, Object.getPrototypeOf(Promise.resolve())]);
