'use strict';

// node tools/guards.js [FOLDER]: checks lib/ there against docs/guards.md; ends with 1 where a rule
// is broken.

var fs = require('fs');
var path = require('path');

var RULES = {
    G1: /\bObject\s*\.\s*prototype\b(?!\s*\.)|\bin\s*\{\s*\}/g,
    G2: /\boptions\s*\.\s*allowPrototypes\b/g,
    G3: /(['"`])(?:__proto__|constructor|prototype|hasOwnProperty|isPrototypeOf|toString|valueOf)\1/g
};
var ALLOWED = { G1: 1, G2: 1, G3: 0 };

function withoutComments(text) {
    return text.replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*/g, function (comment) {
        return comment.replace(/[^\n]/g, ' ');
    });
}

function linesOf(text, pattern) {
    var lines = [];
    text.replace(pattern, function () {
        lines.push(text.slice(0, arguments[arguments.length - 2]).split('\n').length);
    });
    return lines;
}

var folder = path.join(process.argv[2] || '.', 'lib');
fs.readdirSync(folder).sort().forEach(function (name) {
    var text = withoutComments(fs.readFileSync(path.join(folder, name), 'utf8'));
    Object.keys(RULES).forEach(function (rule) {
        var lines = linesOf(text, RULES[rule]);
        if (lines.length > ALLOWED[rule]) {
            console.log('lib/' + name + ' breaks ' + rule + ' of docs/guards.md, lines ' + lines.join(', '));
            process.exitCode = 1;
        }
    });
});
