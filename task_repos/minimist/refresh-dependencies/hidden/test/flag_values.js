'use strict';

var parse = require('../');
var test = require('tape');

var oneAlias = { boolean: 'force', alias: { force: 'f' } };
var aliases = { boolean: ['force', 'x'], alias: { force: ['f', 'now', 'F'] } };
var byAlias = { boolean: 'f', alias: { force: ['f', 'now'] } };

function forced(value) {
	return { _: [], force: value, f: value, now: value, F: value, x: false };
}

test('long form, the name of a boolean', function (t) {
	t.deepEqual(parse(['--force=false'], oneAlias), { _: [], force: false, f: false });
	t.deepEqual(parse(['--force=true'], oneAlias), { _: [], force: true, f: true });
	t.end();
});

test('long form, the alias of a boolean', function (t) {
	t.deepEqual(parse(['--f=false'], oneAlias), { _: [], force: false, f: false });
	t.deepEqual(parse(['--f=true'], oneAlias), { _: [], force: true, f: true });
	t.end();
});

test('long form, one of several aliases', function (t) {
	t.deepEqual(parse(['--now=false'], aliases), forced(false));
	t.deepEqual(parse(['--F=true'], aliases), forced(true));
	t.end();
});

test('long form, what has a boolean for its alias', function (t) {
	t.deepEqual(parse(['--force=false'], byAlias), { _: [], force: false, f: false, now: false });
	t.deepEqual(parse(['--now=true'], byAlias), { _: [], force: true, f: true, now: true });
	t.end();
});

test('short form, the name of a boolean', function (t) {
	t.deepEqual(parse(['-x=false'], { boolean: 'x' }), { _: [], x: false });
	t.deepEqual(parse(['-x=true'], { boolean: 'x' }), { _: [], x: true });
	t.end();
});

test('short form, the alias of a boolean', function (t) {
	t.deepEqual(parse(['-f=false'], oneAlias), { _: [], force: false, f: false });
	t.deepEqual(parse(['-F=true'], aliases), forced(true));
	t.end();
});

test('short form, at the end of a group', function (t) {
	t.deepEqual(parse(['-xf=false'], oneAlias), { _: [], x: true, force: false, f: false });
	t.deepEqual(parse(['-fx=false'], aliases), {
		_: [], force: true, f: true, now: true, F: true, x: false
	});
	t.end();
});

test('any other text is true', function (t) {
	['no', '0', '', 'False', 'false ', 'a=b'].forEach(function (text) {
		t.deepEqual(parse(['--f=' + text], oneAlias), { _: [], force: true, f: true }, text);
		t.deepEqual(parse(['-f=' + text], oneAlias), { _: [], force: true, f: true }, text);
	});
	t.end();
});

test('the last value counts', function (t) {
	t.deepEqual(parse(['--f=false', '--force'], oneAlias), { _: [], force: true, f: true });
	t.deepEqual(parse(['--force', '-f=false'], oneAlias), { _: [], force: false, f: false });
	t.end();
});

test('what is no boolean keeps its value', function (t) {
	t.deepEqual(parse(['--n=false', '-m=false'], oneAlias), {
		_: [], n: 'false', m: 'false', force: false, f: false
	});
	t.deepEqual(parse(['--n=7', '-m=true'], { alias: { n: 'number' } }), {
		_: [], n: 7, number: 7, m: 'true'
	});
	t.deepEqual(parse(['--s=false', '-t=1'], { string: ['s', 't'] }), { _: [], s: 'false', t: '1' });
	t.end();
});

test('options that are all booleans keep what stands behind an equals sign', function (t) {
	t.deepEqual(parse(['--a=false', '-b=false', '--c'], { boolean: true }), {
		_: [], a: 'false', b: 'false', c: true
	});
	t.end();
});

test('a boolean takes no word behind it but true and false', function (t) {
	t.deepEqual(parse(['-f', 'word', '--force', 'false'], oneAlias), {
		_: ['word'], force: false, f: false
	});
	t.end();
});
