/**
 * Runs the built command line again and again in one process, as its parent asks. Each run has
 * the paths that it is given as its standard input, output and error, and ends where the command
 * line would exit. The argument is the directory of these files, which is deleted when the parent
 * has ended.
 */
const { closeSync, constants, createReadStream, openSync, rmSync, writeSync } = require('node:fs');
const os = require('node:os');
const { dirname, join } = require('node:path');

const MAIN = join(__dirname, '../../dist/cjs/main.cjs');
// Runs that exit in their middle leave listeners behind; Node would warn in the output of a later one.
process.setMaxListeners(0);
const [, , DIRECTORY] = process.argv;

let end = () => {};
/** The named pipe on which a shell waits for the end of the run, if one waits. */
let waiting;
/** The directory of such pipes, if a shell has ever waited. */
let shells;

function replaceDescriptors(streams) {
  for (const [descriptor, { path, flags }] of streams.entries()) {
    // The lowest free descriptor is the one that was closed.
    closeSync(descriptor);
    if (openSync(path, flags) !== descriptor) throw new Error('wrong descriptor');
  }
}

/** Ends the wait of a shell whose test has gone. */
function release(pipe) {
  try {
    const descriptor = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(descriptor, '99 the test has ended\n');
  } catch {
    // No shell waits any longer.
  }
}

const { availableParallelism } = os;

process.on('message', ({ args, directory, streams, pipe, cores, environment = {} }) => {
  waiting = pipe;
  if (pipe !== undefined) shells = dirname(pipe);
  started = now();
  replaceDescriptors(streams);
  os.availableParallelism = () => cores ?? availableParallelism();
  Object.assign(process.env, environment);
  process.chdir(directory);
  process.argv = [process.execPath, MAIN, ...args];
  // Node makes this stream once for a process.
  const stdin = createReadStream('', { fd: 0, autoClose: false });
  Object.defineProperty(process, 'stdin', { configurable: true, value: stdin });
  const others = process.listeners('exit');
  end = (code) => {
    end = () => {};
    waiting = undefined;
    for (const listener of process.listeners('exit')) {
      if (others.includes(listener)) continue;
      process.off('exit', listener);
      listener(code);
    }
    for (const name of Object.keys(environment)) delete process.env[name];
    process.chdir('/');
    // What reads a pipe waits for its last writer.
    replaceDescriptors(['r', 'w', 'w'].map((flags) => ({ path: '/dev/null', flags })));
    process.send(code);
  };
  delete require.cache[MAIN];
  require(MAIN);
});

// A run measures its time from the start of its process.
const now = performance.now.bind(performance);
let started = 0;
performance.now = () => now() - started;

const { exit } = process;
process.exit = (code) => end(code);
process.on('disconnect', () => {
  rmSync(DIRECTORY, { recursive: true, force: true });
  if (waiting !== undefined) release(waiting);
  if (shells !== undefined) rmSync(shells, { recursive: true, force: true });
  exit(0);
});
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    writeSync(2, `${error?.stack}\n`);
    end(1);
  });
}
