'use strict';

var parse = require('../');
var test = require('tape');

var options = { boolean: 'force', alias: { force: ['f', 'now'] } };

test('a boolean is one by each of its names', function (t) {
	t.deepEqual(parse(['--force=false'], options), { _: [], force: false, f: false, now: false });
	t.deepEqual(parse(['--now=false'], options), { _: [], force: false, f: false, now: false });
	t.deepEqual(parse(['-f=false'], options), { _: [], force: false, f: false, now: false });
	t.deepEqual(parse(['-f=x'], options), { _: [], force: true, f: true, now: true });
	t.end();
});

test('what is no boolean keeps its text', function (t) {
	t.deepEqual(parse(['--n=false', '-x=false'], options), {
		_: [], n: 'false', x: 'false', force: false, f: false, now: false
	});
	t.end();
});
