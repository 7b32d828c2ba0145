/**
 * Preloaded by a program that is to get signals at a moment that does not depend on time: when it
 * is about to make its file system call number SIGNAL_AT in its working directory, or its
 * second call of the name (`rename 2`), or about to write from a thread (`thread`),
 * or to read the third piece of its input (`reading`). SIGNALS are the signals; CALLS is a file
 * that lists the calls. CORES is how many the machine seems to have.
 */
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const os = require('node:os');
const { resolve, sep } = require('node:path');
const { isMainThread } = require('node:worker_threads');

const { SIGNAL_AT, SIGNALS = '', CALLS, CORES } = process.env;
if (CORES !== undefined) os.availableParallelism = () => Number(CORES);
const here = process.cwd() + sep;
const { appendFileSync } = fs;
const calls = [];
let reads = 0;
let sent = false;

/** @param {string} name @param {unknown} subject a path, or what is opened already */
function before(name, subject) {
  const isPath = typeof subject === 'string' || subject instanceof Uint8Array;
  if (isPath && !`${resolve(String(subject))}${sep}`.startsWith(here)) return;
  if (typeof subject === 'number' && subject <= 2) return;
  if (!momentsOf(name).includes(SIGNAL_AT) || sent) return;
  sent = true;
  for (const signal of SIGNALS.split(',')) process.kill(process.pid, signal);
}

/** @param {string} name */
function momentsOf(name) {
  if (name === 'readSync') return ++reads === 3 ? ['reading'] : [];
  if (!isMainThread) return name === 'writeSync' ? ['thread'] : [];
  const number = calls.push(name) - 1;
  return [String(number), `${name} ${calls.filter((call) => call === name).length}`];
}

/** @param {Record<string, unknown>} object @param {readonly string[]} names */
function watch(object, names, subjectOf = (_self, [first]) => first) {
  for (const name of names) {
    const call = object[name];
    object[name] = function (...given) {
      before(name, subjectOf(this, given));
      return call.apply(this, given);
    };
  }
}

watch(fs, [
  'openSync',
  'readSync',
  'writeSync',
  'renameSync',
  'mkdirSync',
  'rmSync',
  'readdirSync',
]);
watch(fs.promises, ['open', 'rename', 'unlink', 'mkdir', 'readdir', 'realpath']);

const { open } = fs.promises;
let isPatched = false;
fs.promises.open = async (...given) => {
  const handle = await open(...given);
  if (!isPatched) watch(Object.getPrototypeOf(handle), ['write', 'sync'], () => undefined);
  isPatched = true;
  return handle;
};

syncBuiltinESMExports();

if (CALLS !== undefined && isMainThread) {
  process.on('exit', () => appendFileSync(CALLS, calls.map((name) => `${name}\n`).join('')));
}
