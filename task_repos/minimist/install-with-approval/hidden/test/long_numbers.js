'use strict';

var parse = require('../');
var test = require('tape');

var LAST = 9007199254740991;
var FIRST_LONG = '9007199254740992';
var LONG = '12345678901234567890';

test('a long number behind an equals sign', function (t) {
	t.deepEqual(parse(['--order=' + LONG]), { _: [], order: LONG });
	t.deepEqual(parse(['-o=' + FIRST_LONG]), { _: [], o: FIRST_LONG });
	t.end();
});

test('a long number behind a space', function (t) {
	t.deepEqual(parse(['--order', LONG, '-o', FIRST_LONG]), { _: [], order: LONG, o: FIRST_LONG });
	t.end();
});

test('a long number right behind its letter', function (t) {
	t.deepEqual(parse(['-o' + LONG]), { _: [], o: LONG });
	t.deepEqual(parse(['-o-' + FIRST_LONG]), { _: [], o: '-' + FIRST_LONG });
	t.end();
});

test('a long number that belongs to no option', function (t) {
	t.deepEqual(parse([LONG, 'word', FIRST_LONG]), { _: [LONG, 'word', FIRST_LONG] });
	t.deepEqual(parse(['7', LONG], { stopEarly: false }), { _: [7, LONG] });
	t.end();
});

test('a long number with a sign', function (t) {
	t.deepEqual(parse(['--order=-' + FIRST_LONG]), { _: [], order: '-' + FIRST_LONG });
	t.deepEqual(parse(['--order=+' + LONG, '+' + LONG]), { _: ['+' + LONG], order: '+' + LONG });
	t.end();
});

test('a long number in hexadecimal', function (t) {
	t.deepEqual(parse(['--order=0x20000000000000', '0XFFFFFFFFFFFFFFFF']), {
		_: ['0XFFFFFFFFFFFFFFFF'], order: '0x20000000000000'
	});
	t.end();
});

test('a long number by each name', function (t) {
	t.deepEqual(parse(['-o', LONG], { alias: { o: ['order', 'nr'] } }), {
		_: [], o: LONG, order: LONG, nr: LONG
	});
	t.end();
});

test('long numbers beside short ones', function (t) {
	t.deepEqual(parse(['--o=1', '--o=' + LONG, '--o=2']), { _: [], o: [1, LONG, 2] });
	t.end();
});

test('the last exact number is one', function (t) {
	t.deepEqual(parse(['--a=' + LAST, String(LAST), '-b' + LAST]), { _: [LAST], a: LAST, b: LAST });
	t.deepEqual(parse(['--a=-' + LAST, '--b=0x1FFFFFFFFFFFFF', '--c=+' + LAST]), {
		_: [], a: -LAST, b: LAST, c: LAST
	});
	t.end();
});

test('zeros in front make no number long', function (t) {
	t.deepEqual(parse(['--a=00000000000000000000007', '0x00000000000000000010']), { _: [16], a: 7 });
	t.end();
});

test('a point or an exponent makes it a number as before', function (t) {
	t.deepEqual(parse(['--a=1e21', '--b=12345678901234567890.5', '--c=0.12345678901234567890']), {
		_: [], a: 1e21, b: 12345678901234567890.5, c: 0.12345678901234567890
	});
	t.deepEqual(parse(['9007199254740992.', '1e300']), { _: [9007199254740992, 1e300] });
	t.end();
});

test('what is declared a string is one, whatever its length', function (t) {
	t.deepEqual(parse(['--s=7', '--s=' + LONG, '8'], { string: ['s', '_'] }), { _: ['8'], s: ['7', LONG] });
	t.end();
});

test('defaults are left alone', function (t) {
	t.deepEqual(parse([], { default: { a: 1e17 }, boolean: 'b' }), { _: [], a: 1e17, b: false });
	t.deepEqual(parse([], { default: { b: 1e17 }, boolean: 'b' }), { _: [], b: 1e17 });
	t.end();
});
