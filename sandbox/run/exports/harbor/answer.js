// Compares an answer with what is expected: `answer.js ANSWER EXPECTED`, both JSON objects.
const { readFileSync } = require('fs');

function plain(value) {
	if (Array.isArray(value)) { return '[' + value.map(plain).join() + ']'; }
	if (value === null || typeof value !== 'object') { return String(JSON.stringify(value)); }
	return '{' + Object.keys(value).sort().map((key) => JSON.stringify(key) + plain(value[key])).join() + '}';
}

const [answer, expected] = process.argv.slice(2).map((name) => JSON.parse(readFileSync(name, 'utf8')));
const wrong = Object.keys(expected).filter((name) => plain(answer[name]) !== plain(expected[name]));
console.log(wrong.join(' '));
process.exit(wrong.length ? 1 : 0);
