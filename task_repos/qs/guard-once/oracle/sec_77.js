'use strict';

var qs = require('../');
var test = require('tape');

test('inherited names are left out wherever they stand', function (t) {
    t.deepEqual(qs.parse('toString=x&b=y'), { b: 'y' });
    t.deepEqual(qs.parse('a[toString]=x&a[b]=y'), { a: { b: 'y' } });
    t.deepEqual(qs.parse('a[b][__proto__][c]=x'), {});
    t.end();
});

test('unless they are allowed', function (t) {
    t.deepEqual(qs.parse('a[toString]=x', { allowPrototypes: true }), { a: { toString: 'x' } });
    t.end();
});
