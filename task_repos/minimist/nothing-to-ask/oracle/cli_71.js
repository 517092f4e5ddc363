'use strict';

var parse = require('../');
var test = require('tape');

test('a negative number is a value', function (t) {
	t.deepEqual(parse(['--offset', '-5', '-o', '-.5']), { _: [], offset: -5, o: -0.5 });
	t.deepEqual(parse(['-vo', '-1e3']), { _: [], v: true, o: -1000 });
	t.end();
});

test('what takes no value does not take one', function (t) {
	t.deepEqual(parse(['--force', '-5'], { boolean: 'force' }), { _: [], force: true, 5: true });
	t.deepEqual(parse(['--offset', '-5x']), { _: [], offset: true, 5: true, x: true });
	t.end();
});
