import { Session } from 'node:inspector';
import { types } from 'node:util';
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--no-opt');

/**
 * Counts the steps of TypeScript: V8's block coverage says how often each block of a function was executed, and the sum is the
 * count. What lies between is straight code but for calls of what is native; those that cost more for more octets
 * are wrapped as long as is counted, and charged what they may read or write.
 */
export function countSteps(run: () => void): number {
  const session = new Session();
  session.connect();
  const natives = new MeteredNatives();
  try {
    post(session, 'Profiler.enable');
    post(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    post(session, 'Profiler.takePreciseCoverage'); // resets the counts
    natives.install();
    run();
    natives.remove();
    return blocksExecuted(session) + natives.steps;
  } finally {
    natives.remove();
    post(session, 'Profiler.stopPreciseCoverage');
    session.disconnect();
  }
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
  }[];
}

/** With a session of its own thread V8 answers before `post` returns. */
function post(session: Session, method: string, parameters: object = {}): unknown {
  let answer: unknown;
  session.post(method, parameters, (error, result) => {
    if (error !== null) throw error;
    answer = result;
  });
  return answer;
}

function blocksExecuted(session: Session): number {
  const { result } = post(session, 'Profiler.takePreciseCoverage') as Coverage;
  let steps = 0;
  for (const { url, functions } of result) {
    if (!url.includes('/src/')) continue;
    for (const { ranges } of functions) for (const { count } of ranges) steps += count;
  }
  return steps;
}

/** A native method, and what a call of it is charged in octets or elements. */
type Charge = (
  self: { readonly length: number },
  result: unknown,
  args: readonly unknown[],
) => number;

const whole: Charge = (self) => self.length;
const argument: Charge = (_self, _result, [first]) => lengthOf(first);
const result: Charge = (_self, made) => lengthOf(made);
const sorting: Charge = (self) => self.length * Math.ceil(Math.log2(self.length + 2));

function lengthOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length;
  return types.isTypedArray(value) ? value.byteLength : 0;
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;

/**
 * All methods of the platform that src/protocol and src/compile call whose cost depends on lengths. A test sees that the list is whole.
 * Not here, as they cannot be replaced where they were imported, and are called once for each body and charge no more than its
 * octets: `isUtf8`, `hash`.
 */
export const NATIVES: readonly (readonly [object: object, method: string, charge: Charge])[] = [
  [typedArray, 'set', argument],
  [typedArray, 'slice', result],
  [typedArray, 'fill', (self, _made, [, from = 0, to = self.length]) => Number(to) - Number(from)],
  [typedArray, 'copyWithin', (_self, _made, [, from, to]) => Number(to) - Number(from)],
  [typedArray, 'sort', sorting],
  [typedArray, 'reverse', whole],
  [typedArray, 'lastIndexOf', whole],
  [typedArray, 'every', whole],
  [Array.prototype, 'join', (_self, made) => lengthOf(made)],
  [Array.prototype, 'slice', result],
  [Array.prototype, 'sort', sorting],
  [String.prototype, 'toLowerCase', whole],
  [Buffer.prototype, 'toString', result],
  [TextDecoder.prototype, 'decode', argument],
  [Buffer, 'compare', (_self, _made, [a, b]) => Math.min(lengthOf(a), lengthOf(b))],
];

/** Those whose new instances are memory full of zeros. */
const ARRAYS = ['Uint8Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float64Array'] as const;

const OCTETS_OF_A_STEP = 16;

class MeteredNatives {
  steps = 0;
  readonly #originals: (() => void)[] = [];

  install(): void {
    for (const [object, method, charge] of NATIVES) {
      const descriptor = Object.getOwnPropertyDescriptor(object, method);
      if (descriptor === undefined) throw new Error(`${method} is not there`);
      const original = descriptor.value as (...args: unknown[]) => unknown;
      const meter = this;
      this.#originals.push(() => Object.defineProperty(object, method, descriptor));
      Object.defineProperty(object, method, {
        ...descriptor,
        value(this: { readonly length: number }, ...args: unknown[]) {
          const made = original.apply(this, args);
          meter.steps += 1 + charge(this, made, args) / OCTETS_OF_A_STEP;
          return made;
        },
      });
    }
    for (const name of ARRAYS) {
      const original = globalThis[name] as new (...args: unknown[]) => object;
      this.#originals.push(() => Object.assign(globalThis, { [name]: original }));
      const construct = (target: typeof original, args: unknown[], as: typeof original): object => {
        const made = Reflect.construct(target, args, as) as object;
        if (typeof args[0] === 'number') this.steps += 1 + lengthOf(made) / OCTETS_OF_A_STEP;
        return made;
      };
      Object.assign(globalThis, { [name]: new Proxy(original, { construct }) });
    }
  }

  remove(): void {
    for (const restore of this.#originals.splice(0)) restore();
  }
}
