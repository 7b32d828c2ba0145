import { fstatSync, type Stats } from 'node:fs';
import type { Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { DescriptorOutput } from './descriptor-output.js';
import { LaidOutLines, type LineLayout } from './laid-out-lines.js';
import { isNonBlocking } from './non-blocking.js';
import type { Output } from './output.js';
import { outputError } from './output-error.js';
import { openPipe } from './pipe-output.js';
import { StreamOutput } from './stream-output.js';
import { TerminalOutput } from './terminal-output.js';

/** Where records go: a descriptor, a stream, or what opens an output. */
export type OutputTarget = number | Writable | (() => Output);

/** Opens a descriptor of one kind; `undefined` if it is of another. */
type Opener = (descriptor: number, status: Stats, name: string) => Output | undefined;

/**
 * How descriptors are opened, in the order in which it is tried. The kernel makes the bytes of the
 * records (kernel/assembly/emit). To send them elsewhere, or encoded, write an `Output` that wraps
 * another one, as TerminalOutput does, and add its opener here.
 */
const OPENERS: readonly Opener[] = [
  (descriptor, status, name) => (status.isFIFO() ? openPipe(descriptor, name) : undefined),
  // Node's own handle of standard output waits for room in a socket; a bare descriptor cannot.
  (descriptor, status, name) =>
    status.isSocket() && descriptor === 1 ? new StreamOutput(process.stdout, name) : undefined,
  (descriptor, status, name) =>
    isatty(descriptor) ? new TerminalOutput(openDescriptor(descriptor, status, name)) : undefined,
  openDescriptor,
];

/**
 * Opens a descriptor or stream for writing from the main thread. Control characters are escaped on
 * a terminal; all other outputs get every byte unchanged.
 *
 * @throws RobotsFilterError `output` if the descriptor is closed
 */
export function openOutput(target: OutputTarget, name: string): Output {
  if (typeof target === 'function') return target();
  if (typeof target !== 'number') return new StreamOutput(target, name);
  const status = statusOf(target, name);
  for (const open of OPENERS) {
    const output = open(target, status, name);
    if (output !== undefined) return output;
  }
  throw new Error(`no output for descriptor ${target}`);
}

/**
 * Opens a descriptor for people, be it a terminal or a pipe to a pager: control characters are
 * escaped, and lines are laid out.
 *
 * @throws RobotsFilterError `output` if the descriptor is closed
 */
export function openDisplay(descriptor: number, name: string, layOut: LineLayout): Output {
  const plain = isatty(descriptor)
    ? openDescriptor(descriptor, statusOf(descriptor, name), name)
    : openOutput(descriptor, name);
  return new TerminalOutput(new LaidOutLines(plain, layOut));
}

/**
 * Whether workers may write to the descriptor themselves.
 *
 * @throws RobotsFilterError `output` if it is closed
 */
export function isNonBlockingOutput(descriptor: number, name: string): boolean {
  return isNonBlocking(statusOf(descriptor, name), descriptor);
}

function openDescriptor(descriptor: number, status: Stats, name: string): Output {
  return new DescriptorOutput(descriptor, name, isNonBlocking(status, descriptor));
}

function statusOf(descriptor: number, name: string): Stats {
  try {
    return fstatSync(descriptor);
  } catch (error) {
    throw outputError(name, error);
  }
}
