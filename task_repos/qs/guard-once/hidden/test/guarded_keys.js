'use strict';

var fs = require('fs');
var path = require('path');
var qs = require('../');
var test = require('tape');

var NAMES = ['hasOwnProperty', 'toString', 'valueOf', 'constructor', 'isPrototypeOf', '__proto__'];
var lib = path.join(__dirname, '..', 'lib');

function plain(entries) {
    var made = Object.create(null);
    Object.keys(entries).forEach(function (key) { made[key] = entries[key]; });
    return made;
}

function counted(file, pattern) {
    var text = fs.readFileSync(path.join(lib, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    return (text.match(pattern) || []).length;
}

test('a key that starts with an inherited name is left out', function (t) {
    NAMES.forEach(function (name) {
        t.deepEqual(qs.parse(name + '=x&b=y'), { b: 'y' }, name);
        t.deepEqual(qs.parse(name + '[a]=x&b=y'), { b: 'y' }, name);
    });
    t.end();
});

test('a key that ends with an inherited name is left out whole', function (t) {
    NAMES.forEach(function (name) {
        t.deepEqual(qs.parse('a[' + name + ']=x&b=y'), { b: 'y' }, name);
        t.deepEqual(qs.parse('a[b][c][' + name + ']=x'), {}, name);
    });
    t.end();
});

test('a key with an inherited name in its midst is left out whole', function (t) {
    NAMES.forEach(function (name) {
        t.deepEqual(qs.parse('a[' + name + '][b]=x'), {}, name);
        t.deepEqual(qs.parse('a[b][' + name + '][]=x&a[c]=y'), { a: { c: 'y' } }, name);
    });
    t.end();
});

test('with dots too', function (t) {
    t.deepEqual(qs.parse('a.toString=x&a.b=y', { allowDots: true }), { a: { b: 'y' } });
    t.deepEqual(qs.parse('a.constructor.b=x', { allowDots: true }), {});
    t.end();
});

test('percent-encoded too', function (t) {
    t.deepEqual(qs.parse('a%5BtoString%5D=x&a%5Bb%5D=y'), { a: { b: 'y' } });
    t.end();
});

test('keys of an object too', function (t) {
    t.deepEqual(qs.parse({ 'a[valueOf]': 'x', 'a[b]': 'y' }), { a: { b: 'y' } });
    t.end();
});

test('as deep as keys are taken apart, and no deeper', function (t) {
    t.deepEqual(qs.parse('a[b][c][d][e][toString]=x'), {});
    t.deepEqual(qs.parse('a[b][c][d][e][f][toString]=x'), {
        a: { b: { c: { d: { e: { f: { '[toString]': 'x' } } } } } }
    });
    t.deepEqual(qs.parse('a[toString]=x', { depth: 0 }), { 'a[toString]': 'x' });
    t.end();
});

test('allowPrototypes lets them in', function (t) {
    var options = { allowPrototypes: true };
    t.deepEqual(qs.parse('a[toString]=x', options), { a: { toString: 'x' } });
    t.deepEqual(qs.parse('a[valueOf][b]=x&toString=y', options), { a: { valueOf: { b: 'x' } }, toString: 'y' });
    t.end();
});

test('plainObjects lets them in', function (t) {
    var options = { plainObjects: true };
    var parsed = qs.parse('a[toString]=x&valueOf=y', options);
    t.deepEqual(parsed, plain({ a: plain({ toString: 'x' }), valueOf: 'y' }));
    t.equal(Object.getPrototypeOf(parsed.a), null);
    t.end();
});

test('names that only look like it stay', function (t) {
    t.deepEqual(qs.parse('a[tostring]=x&a[toString ]=y'), { a: { tostring: 'x', 'toString ': 'y' } });
    t.deepEqual(qs.parse('a[proto]=x&a[length]=y'), { a: { proto: 'x', length: 'y' } });
    t.end();
});

test('parsing leaves options and prototypes alone', function (t) {
    var options = { allowPrototypes: false };
    qs.parse('a[__proto__][polluted]=x&a[constructor][prototype][polluted]=x', options);
    t.deepEqual(options, { allowPrototypes: false });
    t.equal({}.polluted, undefined);
    t.end();
});

test('each file of lib asks and allows in one place', function (t) {
    fs.readdirSync(lib).forEach(function (file) {
        t.ok(counted(file, /\bObject\s*\.\s*prototype\b(?!\s*\.)|\bin\s*\{\s*\}/g) <= 1, file);
        t.ok(counted(file, /\boptions\s*\.\s*allowPrototypes\b/g) <= 1, file);
    });
    t.end();
});

test('lib holds no inherited names', function (t) {
    fs.readdirSync(lib).forEach(function (file) {
        t.equal(counted(file, /['"`](?:__proto__|constructor|prototype|hasOwnProperty|isPrototypeOf|toString|valueOf)['"`]/g), 0, file);
    });
    t.end();
});
