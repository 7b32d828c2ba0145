import { parseArgs } from 'node:util';
import { TARGETS } from './targets/index.js';

/** What a command line of the fuzzer asks for. */
export type FuzzRequest =
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly message: string }
  | ({ readonly kind: 'fuzz' | 'replay' } & FuzzSettings);

export interface FuzzSettings {
  readonly names: readonly string[];
  readonly milliseconds: number;
  readonly runs: number;
  /** `undefined` for another one each time. */
  readonly seed: number | undefined;
  /** Milliseconds after which one run is a hang. */
  readonly patience: number;
  readonly keep: boolean;
  /** The file that holds the one input to replay. */
  readonly input: string | undefined;
}

/** Reads the words after `npm run fuzz --`. */
export function readRequest(words: readonly string[]): FuzzRequest {
  try {
    return parsed(words);
  } catch (error) {
    return { kind: 'mistake', message: error instanceof Error ? error.message : String(error) };
  }
}

/** @throws Error that describes the mistake */
function parsed(words: readonly string[]): FuzzRequest {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      time: { type: 'string', default: '1m' },
      runs: { type: 'string' },
      seed: { type: 'string' },
      hang: { type: 'string', default: '10' },
      keep: { type: 'boolean', default: false },
      input: { type: 'string' },
      replay: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return { kind: 'help' };
  const known = Object.keys(TARGETS);
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`${unknown} is not a target. The targets: ${known.join(', ')}`);
  }
  const names = positionals.length === 0 && values.replay ? known : positionals;
  if (names.length === 0) throw new Error(`name a target: ${known.join(', ')}`);
  return {
    kind: values.replay || values.input !== undefined ? 'replay' : 'fuzz',
    names,
    milliseconds: milliseconds(values.time),
    runs: values.runs === undefined ? Number.POSITIVE_INFINITY : whole('--runs', values.runs),
    seed: values.seed === undefined ? undefined : whole('--seed', values.seed),
    patience: 1000 * whole('--hang', values.hang),
    keep: values.keep,
    input: values.input,
  };
}

function whole(option: string, text: string): number {
  const number = Number(text);
  if (text === '' || !Number.isSafeInteger(number) || number < 0)
    throw new Error(`${option} ${text}: expected a whole number`);
  return number;
}

function milliseconds(text: string): number {
  const unit = { s: 1000, m: 60_000, h: 3_600_000 }[text.slice(-1)];
  if (unit === undefined) throw new Error(`--time ${text}: expected a number and s, m or h`);
  return whole('--time', text.slice(0, -1)) * unit;
}
