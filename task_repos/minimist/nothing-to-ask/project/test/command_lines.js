'use strict';

var parse = require('../');
var quote = require('shell-quote').parse;
var test = require('tape');

// Lines as people type them: what a shell makes of the quotes is parsed here too.

test('a quoted value is one value', function (t) {
	t.deepEqual(parse(quote('--title "a b" rest')), { title: 'a b', _: ['rest'] });
	t.end();
});

test('a quoted number is a number all the same', function (t) {
	t.deepEqual(parse(quote('-n "5"')), { n: 5, _: [] });
	t.end();
});

test('an empty value stays a value', function (t) {
	t.deepEqual(parse(quote('--title ""')), { title: '', _: [] });
	t.end();
});
