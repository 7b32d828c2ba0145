import { Session } from 'node:inspector';
import { types } from 'node:util';
import { setFlagsFromString } from 'node:v8';

// Optimised code is not counted. Modules that import this file become slower, so only tests of
// steps do so.
setFlagsFromString('--no-opt');

// Blocks are counted only in functions that run for the first time afterwards. So counting starts
// once and never stops.
const session = new Session();
session.connect();
post('Profiler.enable');
post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

/**
 * Counts the steps of TypeScript. V8's block coverage says how often each block of a function was
 * executed, and the sum is the count. The code between is straight except for calls of native
 * functions. Native functions that cost more for more bytes are wrapped during counting, and
 * charged the bytes that they may read or write.
 *
 * `of` is a part of the paths whose code counts.
 */
export function countSteps(run: () => void, of = '/src/'): number {
  const natives = new MeteredNatives();
  blocksExecuted(of); // resets all counts
  natives.install();
  try {
    run();
  } finally {
    natives.remove();
  }
  return blocksExecuted(of) + Math.ceil(natives.steps);
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** V8 answers a session of the same thread before `post` returns. */
function post(method: string, parameters: object = {}): unknown {
  let answer: unknown;
  session.post(method, parameters, (error, result) => {
    if (error !== null) throw error;
    answer = result;
  });
  return answer;
}

/** Blocks executed since the last call. */
function blocksExecuted(of: string): number {
  const { result } = post('Profiler.takePreciseCoverage') as Coverage;
  let steps = 0;
  for (const { url, functions } of result) {
    if (!url.includes(of)) continue;
    for (const { ranges } of functions) for (const { count } of ranges) steps += count;
  }
  return steps;
}

/** The charge of a call, in bytes or elements. */
type Charge = (self: unknown, result: unknown, args: readonly unknown[]) => number;

const whole: Charge = (self) => lengthOf(self);
const argument: Charge = (_self, _result, [first]) => lengthOf(first);
const result: Charge = (_self, made) => lengthOf(made);
/** From the second argument to the third, or to the end. */
const range: Charge = (self, _result, [, from = 0, to]) => {
  const { length, byteLength } = self as Uint8Array;
  return ((Number(to ?? length) - Number(from)) * byteLength) / (length || 1);
};
/** From the second argument to the place of the match, or to the end. */
const searched: Charge = (self, found, [, from = 0]) =>
  (Number(found) < 0 ? lengthOf(self) : Number(found)) - Number(from);
/** The first argument, or a part of it. */
const compared: Charge = (_self, _result, [first, from = 0, to]) =>
  Number(to ?? lengthOf(first)) - Number(from);
const sorting: Charge = (self) => lengthOf(self) * Math.ceil(Math.log2(lengthOf(self) + 2));

function lengthOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return types.isTypedArray(value) ? value.byteLength : 0;
}

function methods(object: object, charge: Charge, ...names: string[]) {
  return names.map((name) => [object, name, charge] as const);
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;

/**
 * The methods of the platform whose cost depends on lengths and which do not call back. Imports and
 * operators cannot be wrapped, so these are missing: `isUtf8`, at most twice for each byte of a
 * body; `hash`, once; `+` of strings, which V8 postpones until the whole is read; keys of maps,
 * each hashed once, with a seed of the process.
 */
const NATIVES = [
  ...methods(typedArray, argument, 'set'),
  ...methods(typedArray, result, 'slice', 'join', 'toString'),
  ...methods(typedArray, range, 'fill', 'copyWithin'),
  ...methods(typedArray, searched, 'indexOf'),
  ...methods(typedArray, whole, 'reverse', 'every', 'lastIndexOf', 'includes'),
  ...methods(typedArray, sorting, 'sort'),
  ...methods(Array.prototype, result, 'join', 'slice', 'concat'),
  ...methods(Array.prototype, searched, 'indexOf'),
  ...methods(Array.prototype, whole, 'includes', 'splice', 'shift', 'unshift', 'reverse'),
  ...methods(Array.prototype, sorting, 'sort'),
  ...methods(String.prototype, whole, 'toLowerCase', 'toUpperCase', 'trim', 'split'),
  ...methods(String.prototype, searched, 'indexOf'),
  ...methods(String.prototype, whole, 'lastIndexOf', 'includes', 'replaceAll'),
  ...methods(String.prototype, result, 'repeat', 'padStart', 'padEnd'),
  ...methods(Buffer.prototype, result, 'toString'),
  ...methods(Buffer.prototype, argument, 'write', 'equals'),
  ...methods(Buffer.prototype, searched, 'indexOf'),
  ...methods(Buffer.prototype, whole, 'copy', 'includes'),
  ...methods(Buffer.prototype, compared, 'compare'),
  ...methods(Buffer, argument, 'compare'),
  ...methods(TextDecoder.prototype, argument, 'decode'),
  ...methods(TextEncoder.prototype, argument, 'encode'),
];

/** Constructors whose new instances are memory full of zeros. */
const ARRAYS = ['Uint8Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float64Array'] as const;

const BYTES_OF_A_STEP = 16;

class MeteredNatives {
  steps = 0;
  readonly #originals: (() => void)[] = [];

  install(): void {
    for (const [object, method, charge] of NATIVES) this.#meterMethod(object, method, charge);
    for (const name of ARRAYS) this.#meterArray(name);
  }

  remove(): void {
    for (const restore of this.#originals.splice(0)) restore();
  }

  #meterMethod(object: object, method: string, charge: Charge): void {
    const descriptor = Object.getOwnPropertyDescriptor(object, method);
    if (descriptor === undefined) throw new Error(`there is no ${method}`);
    const original = descriptor.value as (...args: unknown[]) => unknown;
    const meter = this;
    this.#originals.push(() => Object.defineProperty(object, method, descriptor));
    Object.defineProperty(object, method, {
      ...descriptor,
      value(this: unknown, ...args: unknown[]) {
        const made = original.apply(this, args);
        meter.steps += 1 + charge(this, made, args) / BYTES_OF_A_STEP;
        return made;
      },
    });
  }

  #meterArray(name: (typeof ARRAYS)[number]): void {
    const original = globalThis[name] as new (...args: unknown[]) => object;
    this.#originals.push(() => Object.assign(globalThis, { [name]: original }));
    const construct = (target: typeof original, args: unknown[], as: typeof original): object => {
      const made = Reflect.construct(target, args, as) as object;
      if (typeof args[0] === 'number') this.steps += 1 + lengthOf(made) / BYTES_OF_A_STEP;
      return made;
    };
    Object.assign(globalThis, { [name]: new Proxy(original, { construct }) });
  }
}
