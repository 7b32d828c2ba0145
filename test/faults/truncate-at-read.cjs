/**
 * Preloaded by a program whose input is to be truncated at a moment that does not depend on time:
 * TRUNCATED is cut to LEFT bytes when a thread that has read READ bytes of it, or that reads at a
 * position so far on, is about to read from it again; if READ is `open`, when it is about to be
 * opened. APPENDED is then written to its end. RUN tells one run of a process from the next.
 */
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { resolve } = require('node:path');

const { appendFileSync, fstatSync, read, readSync, statSync, truncateSync } = fs;

/** What is to happen to the file in this run, and how much of it this thread has read. */
let plan = { run: undefined, inode: 0, octets: 0, done: true };

function current() {
  const { RUN, TRUNCATED } = process.env;
  if (plan.run !== RUN) {
    const inode = TRUNCATED === undefined ? 0 : statSync(TRUNCATED).ino;
    plan = { run: RUN, inode, octets: 0, done: TRUNCATED === undefined };
  }
  return plan;
}

/** @param {number} descriptor @param {unknown} position a number, or null to read on */
function before(descriptor, position) {
  const { READ } = process.env;
  const { done, inode, octets } = current();
  if (done || READ === 'open' || fstatSync(descriptor).ino !== inode) return;
  if ((typeof position === 'number' && position >= 0 ? position : octets) < Number(READ)) return;
  truncate();
}

/** @param {unknown} path */
function beforeOpening(path) {
  const { READ, TRUNCATED } = process.env;
  if (!current().done && READ === 'open' && resolve(String(path)) === TRUNCATED) truncate();
}

function truncate() {
  const { TRUNCATED = '', LEFT, APPENDED = '' } = process.env;
  current().done = true;
  // Another thread may have come here before.
  if (statSync(TRUNCATED).size <= Number(LEFT)) return;
  truncateSync(TRUNCATED, Number(LEFT));
  appendFileSync(TRUNCATED, APPENDED);
}

/** @param {number} descriptor @param {number} count */
function after(descriptor, count) {
  const now = current();
  if (!now.done && fstatSync(descriptor).ino === now.inode) now.octets += count;
}

/** @param {unknown} options @param {readonly unknown[]} rest */
function positionOf(options, rest) {
  return typeof options === 'object' && options !== null ? options.position : rest[1];
}

fs.readSync = (descriptor, buffer, options, ...rest) => {
  before(descriptor, positionOf(options, rest));
  const count = readSync(descriptor, buffer, options, ...rest);
  after(descriptor, count);
  return count;
};

fs.read = Object.defineProperties((descriptor, buffer, offset, length, position, callback) => {
  before(descriptor, position);
  read(descriptor, buffer, offset, length, position, (error, count, filled) => {
    if (error === null) after(descriptor, count);
    callback(error, count, filled);
  });
}, Object.getOwnPropertyDescriptors(read));

const { open } = fs.promises;
let isPatched = false;
for (const name of ['open', 'openSync']) {
  const call = fs[name];
  fs[name] = (path, ...given) => {
    beforeOpening(path);
    return call(path, ...given);
  };
}

fs.promises.open = async (...given) => {
  beforeOpening(given[0]);
  const handle = await open(...given);
  if (isPatched) return handle;
  isPatched = true;
  const prototype = Object.getPrototypeOf(handle);
  const { read: readHandle } = prototype;
  prototype.read = async function (...call) {
    before(this.fd, call[3]);
    const result = await readHandle.apply(this, call);
    after(this.fd, result.bytesRead);
    return result;
  };
  return handle;
};

syncBuiltinESMExports();
