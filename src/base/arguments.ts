/**
 * Checks what callers of the library pass: a message names the argument, its value, and what to
 * pass.
 */

import { Readable } from 'node:stream';
import { inspect, types } from 'node:util';
import { DOT, HYPHEN, SLASH } from './ascii.js';
import { isDigit, isLetter } from './characters.js';
import { RobotsFilterError } from './errors.js';

const encoder = new TextEncoder();

/**
 * What the value of an option is: of a type, one of some words, or an object of a class. `other` is
 * left to the function.
 */
type OptionKind =
  | 'boolean'
  | 'number'
  | 'string'
  | 'function'
  | 'other'
  | readonly string[]
  | (abstract new (
      ...args: never[]
    ) => object);

/** The kinds of an interface's options: a Record, so that none can be forgotten. */
export type OptionKinds<Options> = Readonly<Record<keyof Required<Options>, OptionKind>>;

const REMEDIES: Readonly<Record<string, string>> = {
  boolean: 'Pass true or false',
  number: 'Pass a number',
  string: 'Pass a string',
  function: 'Pass a function',
};

/** What to pass in place of the value of an option; `undefined` if the value is right. */
function remedyFor(value: unknown, kind: OptionKind): string | undefined {
  if (kind === 'other' || value === undefined || typeof value === kind) return undefined;
  if (typeof kind === 'string') return REMEDIES[kind];
  if (typeof kind === 'function') {
    return value instanceof kind ? undefined : `Pass an object of class ${kind.name}`;
  }
  return kind.includes(value as string) ? undefined : `Use one of ${kind.join(', ')}`;
}

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
 * @throws RobotsFilterError `usage` for anything but an object, for an option of another name, and
 *   for a value of another kind
 */
export function checkOptions<Options>(
  call: string,
  options: Options,
  kinds: OptionKinds<Options>,
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new RobotsFilterError(
      'usage',
      `the options of ${call} are ${shownValue(options)}. Pass an object with any of ${Object.keys(kinds).join(', ')}`,
    );
  }
  for (const name in options) {
    if (Object.hasOwn(kinds, name)) {
      const value = options[name];
      const remedy = remedyFor(value, kinds[name]);
      if (remedy === undefined) continue;
      throw new RobotsFilterError('usage', `${name} of ${call} is ${shownValue(value)}. ${remedy}`);
    }
    const known = Object.keys(kinds);
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

/**
 * Reads the path of a member or column, whose dots descend: `request.url`. A name in double quotes
 * is a JSON string, so that it may have dots of its own: `"request.url"`.
 *
 * @returns one key for each level; `undefined` if a name is empty or its quotes are wrong
 */
export function parseFieldPath(text: string): string[] | undefined {
  const keys: string[] = [];
  for (let at = 0; ; ) {
    let end: number;
    if (text[at] === '"') {
      end = endOfString(text, at);
      const key = jsonString(text.slice(at, end));
      if (key === undefined) return undefined;
      keys.push(key);
    } else {
      const dot = text.indexOf('.', at);
      end = dot < 0 ? text.length : dot;
      if (end === at) return undefined;
      keys.push(text.slice(at, end));
    }
    if (end === text.length) return keys;
    if (text[end] !== '.') return undefined;
    at = end + 1;
  }
}

/** The text that `parseFieldPath` reads as this path. */
export function formatFieldPath(keys: readonly string[]): string {
  return keys
    .map((key) =>
      key === '' || key.includes('.') || key.startsWith('"') ? JSON.stringify(key) : key,
    )
    .join('.');
}

/** The offset after the JSON string that begins at `start`; the text's end if it has no end. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function jsonString(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    return undefined;
  }
}

/** Whether a value is bytes, also those of another realm, as in tests in a `vm` context. */
export function isBytes(value: unknown): value is Uint8Array {
  return types.isUint8Array(value);
}

/** @throws RobotsFilterError `usage` unless `url` is a string or bytes */
export function checkUrl(url: unknown): asserts url is string | Uint8Array {
  if (typeof url === 'string' || isBytes(url)) return;
  const remedy = url instanceof URL ? 'Pass its href' : 'Pass a string or a Uint8Array';
  throw new RobotsFilterError('usage', `the URL is ${shownValue(url)}. ${remedy}`);
}

/** Whether a reference has neither a scheme nor a leading slash: the scheme may be forgotten. */
export function isBareReference(reference: string): boolean {
  for (let at = 0; at < reference.length; at++) {
    const character = reference.charAt(at);
    if (character === ':') return false;
    if (character === '/' || character === '\\') return reference.slice(0, at).trim() !== '';
    if (character === '?' || character === '#') return true;
  }
  return true;
}

/** Whether a reference begins with the name of a host and a slash: `example.com/x`. */
export function lacksScheme(reference: string): boolean {
  let label = 0;
  for (let at = 0; at < reference.length; at++) {
    const unit = reference.charCodeAt(at);
    if (unit === DOT) {
      if (at === label) return false;
      label = at + 1;
    } else if (unit === SLASH) {
      return label > 0 && at > label && isLetter(reference.charCodeAt(label));
    } else if (!isLetter(unit) && !isDigit(unit) && unit !== HYPHEN) {
      return false;
    }
  }
  return false;
}

/**
 * The bytes of a robots.txt: a string is encoded as UTF-8, bytes are returned as they are.
 *
 * @throws RobotsFilterError `usage` for any other value
 */
export function bodyBytes(call: string, body: unknown): Uint8Array {
  checkBody(call, body);
  return typeof body === 'string' ? encoder.encode(body) : body;
}

/** @throws RobotsFilterError `usage` unless `body` is a string or bytes */
export function checkBody(call: string, body: unknown): asserts body is string | Uint8Array {
  if (typeof body === 'string' || isBytes(body)) return;
  throw new RobotsFilterError(
    'usage',
    `the body for ${call} is ${shownValue(body)}. Pass the content of a robots.txt, as a string or a Uint8Array`,
  );
}

/** The greatest number of days that is taken: about a century. */
export const MOST_DAYS = 36_500;

/**
 * The value, a whole number from 1 to `most`.
 *
 * @throws RobotsFilterError `usage` for any other value
 */
export function wholeNumber(name: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new RobotsFilterError('usage', `${name} is ${value}. Use a whole number from 1 to ${most}`);
}

/** @throws RobotsFilterError `usage` unless `value` is a function or undefined */
export function checkFunction(name: string, value: unknown): void {
  const remedy = remedyFor(value, 'function');
  if (remedy === undefined) return;
  throw new RobotsFilterError('usage', `${name} is ${shownValue(value)}. ${remedy}`);
}

/** @throws RobotsFilterError `usage` unless `path` is a string that is not empty */
export function checkPath(call: string, path: unknown): asserts path is string {
  if (typeof path === 'string' && path !== '') return;
  throw new RobotsFilterError(
    'usage',
    `the path for ${call} is ${shownValue(path)}. Pass ${path instanceof URL ? 'fileURLToPath(url)' : 'a string'}`,
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
  if (typeof items === 'object' && items !== null && !isStream && !isBytes(items)) {
    if (Symbol.asyncIterator in items || Symbol.iterator in items) return;
  }
  const shown = isStream ? 'a stream of bytes' : shownValue(items);
  throw new RobotsFilterError('usage', `what ${call} takes URLs from is ${shown}. ${remedy}`);
}
