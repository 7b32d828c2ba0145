/**
 * What Piscina loads in a thread. It loads with `require`, and Node 20 aborts the process when a thread is ended while an ES
 * module is being required (6 of 1,500 runs that failed early); of an import it does not.
 */
const loaded = import('./worker.js');

module.exports = async (task: import('./messages.js').Task) => (await loaded).default(task);
