'use strict';

var parse = require('../');
var test = require('tape');

test('long form, a negative number', function (t) {
	t.deepEqual(parse(['--offset', '-5']), { _: [], offset: -5 });
	t.deepEqual(parse(['--offset', '-12', 'word']), { _: ['word'], offset: -12 });
	t.end();
});

test('short form, a negative number', function (t) {
	t.deepEqual(parse(['-o', '-5']), { _: [], o: -5 });
	t.deepEqual(parse(['-o', '-12', 'word']), { _: ['word'], o: -12 });
	t.end();
});

test('short form, at the end of a group', function (t) {
	t.deepEqual(parse(['-vo', '-5']), { _: [], v: true, o: -5 });
	t.end();
});

test('a fraction, a point alone, an exponent', function (t) {
	t.deepEqual(parse(['--a', '-0.5', '--b', '-.25', '--c', '-1e3', '-d', '-2.']), {
		_: [], a: -0.5, b: -0.25, c: -1000, d: -2
	});
	t.end();
});

test('by each name', function (t) {
	t.deepEqual(parse(['-o', '-5'], { alias: { offset: ['o', 'shift'] } }), {
		_: [], offset: -5, o: -5, shift: -5
	});
	t.end();
});

test('an option that is a string keeps the text', function (t) {
	t.deepEqual(parse(['--title', '-5', '-s', '-007'], { string: ['title', 's'] }), {
		_: [], title: '-5', s: '-007'
	});
	t.end();
});

test('several values of one option', function (t) {
	t.deepEqual(parse(['-o', '-1', '--o=2', '-o', '3', '--o', '-4']), { _: [], o: [-1, 2, 3, -4] });
	t.end();
});

test('only the word right behind', function (t) {
	t.deepEqual(parse(['--offset', '-5', '-6']), { _: [], offset: -5, 6: true });
	t.end();
});

test('a boolean takes no number, by any of its names', function (t) {
	var options = { boolean: 'force', alias: { force: ['f', 'now'] } };
	[['--force', '-5'], ['-f', '-5'], ['--now', '-5']].forEach(function (words) {
		t.deepEqual(parse(words, options), { _: [], force: true, f: true, now: true, 5: true });
	});
	t.deepEqual(parse(['--any', '-5'], { boolean: true }), { _: [], any: true, 5: true });
	t.end();
});

test('an option that has its value takes no other', function (t) {
	t.deepEqual(parse(['--a=1', '-5', '-b=2', '-6', '-n3', '-7']), {
		_: [], a: 1, 5: true, b: 2, 6: true, n: 3, 7: true
	});
	t.deepEqual(parse(['--no-color', '-5']), { _: [], color: false, 5: true });
	t.end();
});

test('what is no number is an option', function (t) {
	t.deepEqual(parse(['--offset', '-5x']), { _: [], offset: true, 5: true, x: true });
	t.deepEqual(parse(['-o', '-x', '--offset', '--y']), { _: [], o: true, x: true, offset: true, y: true });
	t.end();
});

test('a number behind no option is none of its values', function (t) {
	t.deepEqual(parse(['word', '-5']), { _: ['word'], 5: true });
	t.deepEqual(parse(['--', '--offset', '-5']), { _: ['--offset', '-5'] });
	t.end();
});
