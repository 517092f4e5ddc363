// Tells the outcomes of node's own tests: `--test-reporter`, in the process that runs them.

import runner from './javascript_runner.js';

const file = process.argv[1].slice(process.cwd().length + 1);

function outcomeOf({ type, data: { skip, todo } }) {
  if (skip !== undefined) {
    return 'skipped';
  }
  const passed = type === 'test:pass';
  if (todo !== undefined) {
    return passed ? 'xpassed' : 'xfailed';
  }
  return passed ? 'passed' : 'failed';
}

// Yields nothing; a test is called by its own name behind those of the tests that it is in.
export default async function* report(events) {
  const outcomes = runner.Outcomes(file);
  const names = [];
  for await (const event of events) {
    const { name, nesting, details } = event.data;
    if (event.type === 'test:start') {
      names.length = nesting;
      names[nesting] = name;
    } else if (event.type === 'test:pass' || event.type === 'test:fail') {
      if (details.type !== 'suite' || event.type === 'test:fail') {
        const { error } = details;
        const say = error && (() => (error.cause || error).message);
        outcomes.add([...names.slice(0, nesting), name].join(' > '), outcomeOf(event), say);
      }
    }
  }
  outcomes.end();
}
