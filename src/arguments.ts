import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { RobotsFilterError } from './errors.js';

const encoder = new TextEncoder();

/** The names of an interface's options: a Record, so that none can be forgotten. */
export type OptionNames<Options> = Readonly<Record<keyof Required<Options>, true>>;

/** A value for a message, on one line: `undefined`, `'text'`, `{ agent: 'A' }`. */
export function shownValue(value: unknown): string {
  if (ArrayBuffer.isView(value)) return `${value.constructor.name} of ${value.byteLength} bytes`;
  const text = inspect(value, {
    depth: 0,
    maxArrayLength: 3,
    compact: true,
    breakLength: Number.POSITIVE_INFINITY,
  });
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}

/**
 * Checks the options of a call.
 *
 * @param call the call's name in messages
 * @throws RobotsFilterError `usage` for anything but an object, and for an option of another name
 */
export function checkOptions<Options>(
  call: string,
  options: Options,
  names: OptionNames<Options>,
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new RobotsFilterError(
      'usage',
      `the options of ${call} are ${shownValue(options)}. Pass an object with any of ${Object.keys(names).join(', ')}`,
    );
  }
  for (const name in options) {
    if (Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const lower = name.toLowerCase();
    const near = known.find((other) => {
      const word = other.toLowerCase();
      return word.startsWith(lower) || lower.startsWith(word) || word.endsWith(lower);
    });
    const remedy = near === undefined ? `Use one of ${known.join(', ')}` : `Did you mean ${near}?`;
    throw new RobotsFilterError(
      'usage',
      `${call} has no option ${JSON.stringify(name)}. ${remedy}`,
    );
  }
}

/** @throws RobotsFilterError `usage` unless `url` is a string or bytes */
export function checkUrl(url: unknown): asserts url is string | Uint8Array {
  if (typeof url === 'string' || url instanceof Uint8Array) return;
  const remedy = url instanceof URL ? 'Pass its href' : 'Pass a string or a Uint8Array';
  throw new RobotsFilterError('usage', `the URL is ${shownValue(url)}. ${remedy}`);
}

/**
 * The bytes of a robots.txt: a string is encoded as UTF-8, bytes are returned as they are.
 *
 * @throws RobotsFilterError `usage` for any other value
 */
export function bodyBytes(call: string, body: unknown): Uint8Array {
  if (typeof body === 'string') return encoder.encode(body);
  if (body instanceof Uint8Array) return body;
  throw new RobotsFilterError(
    'usage',
    `the body for ${call} is ${shownValue(body)}. Pass the content of a robots.txt, as a string or a Uint8Array`,
  );
}

/** @throws RobotsFilterError `usage` unless `path` is a string that is not empty */
export function checkPath(call: string, path: unknown): asserts path is string {
  if (typeof path === 'string' && path !== '') return;
  throw new RobotsFilterError(
    'usage',
    `the path for ${call} is ${shownValue(path)}. Pass a string`,
  );
}

/**
 * @throws RobotsFilterError `usage` unless `items` can be iterated over: a text, whose items would
 *   be letters, and a stream of bytes are refused, too
 */
export function checkItems(call: string, items: unknown): void {
  const remedy =
    'Pass an array or an iterable of items; verdict takes one URL, and filterStream filters the lines of a stream';
  const isStream = items instanceof Readable && !items.readableObjectMode;
  if (typeof items === 'object' && items !== null && !isStream && !(items instanceof Uint8Array)) {
    if (Symbol.asyncIterator in items || Symbol.iterator in items) return;
  }
  const shown = isStream ? 'a stream of bytes' : shownValue(items);
  throw new RobotsFilterError('usage', `what ${call} takes URLs from is ${shown}. ${remedy}`);
}
