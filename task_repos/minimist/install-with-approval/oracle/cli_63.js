'use strict';

var parse = require('../');
var test = require('tape');

test('a number that would lose digits stays text', function (t) {
	t.deepEqual(parse(['--order=9007199254740993', '12345678901234567890']), {
		_: ['12345678901234567890'], order: '9007199254740993'
	});
	t.deepEqual(parse(['--order=0x20000000000001']), { _: [], order: '0x20000000000001' });
	t.end();
});

test('one that does not is a number', function (t) {
	t.deepEqual(parse(['--order=9007199254740991', '1e21']), { _: [1e21], order: 9007199254740991 });
	t.end();
});
