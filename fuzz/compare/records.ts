import type { Format } from '../../oracle/filter.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { words } from '../../test/hostile/pieces.js';
import { hostileUrl } from '../../test/hostile/url.js';
import type { Random } from '../../test/random/random.js';
import { jsonText, SPELLINGS } from './json-text.js';
import { drawLongUrl } from './long-url.js';
import { type Host, PROBE_HOST } from './robots-set.js';

/**
 * The kinds of input: lines of URLs or objects, or JSON values in an array or one after another.
 */

/** A record as written in the input, one character for each byte, without its line end. */
export interface DrawnRecord {
  readonly shape: string;
  readonly text: string;
}

/** A record that can be made as long as required. */
export interface LongRecord {
  readonly shape: string;
  /** The record of that many bytes; a few more if that length is impossible. */
  readonly ofLength: (bytes: number) => DrawnRecord;
}

export interface RecordSettings {
  readonly format: Format;
  readonly profile: Profile;
  /** The member that holds the URL. */
  readonly urlField: readonly string[];
  readonly hosts: readonly Host[];
}

/** The text around the URL's string in a record. */
interface Frame {
  readonly shape: string;
  readonly open: string;
  readonly close: string;
}

const DECOY = `"http://${PROBE_HOST}/deny/decoy"`;
const SCALARS = words('0 -1.5e3 true null "x" "" {} [] [1,"]}"] {"a":"\\"}"} "\\\\"');
/** JSON that `--input ndjson` judges, although `JSON.parse` rejects it. */
const LENIENT = words('tru 01 1. - nul');
const NO_OBJECTS = words('17 true null');
/** Fillers of strings that are only possible in JSON. */
const ESCAPED = words(
  '\\u003c \\u003C \\u0000 \\ud800 \\ud83d\\ude00 \\/ \\u00e9 \\u00E9< \\n \\t \\\\ \\" \\u0025',
);
const BROKEN = ['\\x', '\\u12', '\\u12g4', '\\'];

/** Draws records of one input. */
export class RecordSource {
  readonly #random: Random;
  readonly #settings: RecordSettings;
  /** The host of the last short record. */
  #host: Host;
  readonly #isText: boolean;
  readonly #isLines: boolean;
  #probes = 0;

  constructor(random: Random, settings: RecordSettings) {
    this.#random = random;
    this.#settings = settings;
    this.#host = random.pick(settings.hosts);
    this.#isText = settings.format === 'text';
    this.#isLines = this.#isText || settings.format === 'ndjson';
  }

  /** A record in the plainest form, with a unique number. */
  probe(): DrawnRecord {
    const path = this.#random.chance(0.5) ? 'deny' : 'fine';
    const url = `http://${PROBE_HOST}/${path}/${this.#probes++}`;
    const { urlField } = this.#settings;
    const text = this.#isText ? url : `{${nested(urlField, `"${url}"`)}}`;
    return { shape: 'probe', text };
  }

  /** A short record of any form. */
  short(): DrawnRecord {
    const random = this.#random;
    const { profile, hosts } = this.#settings;
    // A URL may begin as the one before: the kernel reads such a beginning once.
    this.#host = random.chance(0.5) ? this.#host : random.pick(hosts);
    const { starts, patterns } = this.#host;
    const url = hostileUrl(random, profile, patterns, starts);
    if (this.#isText) {
      // A line has no newline inside.
      return { shape: shapeOf(url), text: url.includes('\n') ? url.replaceAll('\n', '\r') : url };
    }
    if (random.chance(0.03)) return this.#bad(url);
    const spelling = random.pick(SPELLINGS);
    const { shape, open, close } = this.#frame();
    return { shape, text: `${open}"${jsonText(random, url, spelling)}"${close}` };
  }

  /** White space, which is not a record. Only for lines. */
  blank(): DrawnRecord {
    const random = this.#random;
    const text = random.pick(['', '', ' ', '\t ', '\r', ' '.repeat(random.between(1, 90))]);
    return { shape: 'blank line', text };
  }

  /** A record of a form that can have any length. */
  long(): LongRecord {
    const random = this.#random;
    if (this.#isText) {
      const url = drawLongUrl(random, true);
      return long(url.shape, url.before, url.middle, url.after, url.pad);
    }
    return random.chance(0.75) ? this.#longUrl() : this.#longMembers();
  }

  /**
   * A record that needs the most memory for its length: decoded if it is a line, not read as a
   * plain URL, and three times as long in canonical form. It is passed on at the same length.
   */
  growing(): LongRecord {
    if (this.#isText) return long('growing', 'HTTP://h?', '<', 'z');
    const [before, after] = aroundValue(this.#settings.urlField);
    const slashes = this.#isLines ? '\\/\\/' : '//';
    return long('growing', `{${before}"HTTP:${slashes}h?`, '<', `"${after}}`);
  }

  #longUrl(): LongRecord {
    const random = this.#random;
    const url = drawLongUrl(random, true);
    const { open, close } = this.#frame();
    const spelling = random.pick(SPELLINGS);
    const inside = random.pick(SPELLINGS);
    const escaped = random.chance(0.25);
    const text = (bytes: string, how = spelling): string => jsonText(random, bytes, how);
    const pad = text(url.pad, 'plain');
    return long(
      escaped ? `${url.shape}, escaped` : url.shape,
      `${open}"${text(url.before)}`,
      escaped ? random.pick(ESCAPED) : text(url.middle, inside),
      `${text(url.after)}"${close}`,
      pad.length === 1 ? pad : 'a',
    );
  }

  /** A record whose length is not in its URL. */
  #longMembers(): LongRecord {
    const random = this.#random;
    const { urlField, format } = this.#settings;
    const url = this.#random.pick([
      `"http://${PROBE_HOST}/deny"`,
      `"HTTP:\\/\\/${PROBE_HOST}\\/deny?<"`,
    ]);
    const member = nested(urlField, url);
    const [before, after] = aroundValue(urlField);
    const ways = [
      () =>
        long('long member', '{"pad":"', random.pick(['x', '\\"', ']', '\\u0022']), `",${member}}`),
      () =>
        long(
          'long member after',
          `{${member},"pad":"`,
          random.pick(['{"', '\xc3\xa9'].map(inString)),
          '"}',
        ),
      () => long('long list', `{"list":[0`, ',1', `],${member}}`, ' '),
      () => long('many members', `{${member}`, ',"a":[]', '}', ' '),
      () => long('many URLs', `{${member}`, `,${member}`, '}', ' '),
      () => long('blanks', '{', ' ', `${member}}`, ' '),
      () => long('long key', '{"', random.pick(['\\u0075', 'url', '\\"']), `":1,${member}}`),
      () => long('long decoy', `{${before}"HTTP:\\/\\/h?`, '<', `"${after},${member}}`),
    ];
    if (format === 'ndjson') {
      ways.push(
        () =>
          long(
            'no object',
            random.pick(['no', '[', '"']),
            random.pick(['x', '"', '{', '\xff']),
            '',
          ),
        () => long('unclosed string', `{${member},"a":"`, 'x', ''),
        () => long('bad escape at the end', `{${before}"HTTP:\\/\\/h?`, '<', `\\x"${after}}`),
        () => long('rubbish after', `{${member}}`, ' ', 'x', ' '),
      );
    }
    return random.pick(ways)();
  }

  #frame(): Frame {
    const random = this.#random;
    const { urlField, format } = this.#settings;
    const [before, after] = aroundValue(urlField);
    const frame = (shape: string, open: string, close: string): Frame => ({ shape, open, close });
    const other = (): string => `"m${random.between(0, 9)}":${random.pick(SCALARS)}`;
    const ways: (() => Frame)[] = [
      () => frame('plain object', `{${before}`, `${after}}`),
      () => frame('URL first', `{${before}`, `${after},${other()},${other()}}`),
      () => frame('URL last', `{${other()},${other()},${before}`, `${after}}`),
      () => frame('between members', `{${other()},${before}`, `${after},${other()}}`),
      () =>
        frame(
          'blanks in the object',
          ` { ${before.replaceAll(':', ' : ')}`,
          `${after.replaceAll('}', '\t}')} , ${other()} }  `,
        ),
      () => frame('escaped key', `{${escapedKeys(before)}`, `${after},${other()}}`),
      () => frame('URL twice', `{${nested(urlField, DECOY)},${other()},${before}`, `${after}}`),
      () =>
        frame(
          'URL twice, the last no string',
          `{${before}`,
          `${after},${nested(urlField, random.pick(['null', '7', '[]', '{}']))}}`,
        ),
      () =>
        frame(
          'nested decoys',
          `{"parent":{${nested(urlField, DECOY)}},"list":[{${nested(urlField, DECOY)}},"}"],${before}`,
          `${after},"x":{${nested(urlField, DECOY)}}}`,
        ),
      () => {
        const around = [random.between(1, 64), random.between(996, 1001), 1500];
        const depth = random.chance(0.8) ? random.between(1, 9) : random.pick(around);
        return frame(
          'deep',
          `{"a":${'['.repeat(depth)}${']'.repeat(depth)},${before}`,
          `${after}}`,
        );
      },
      () => frame('verdict already', `{"verdict":"x",${before}`, `${after},"reason":1}`),
    ];
    if (format === 'ndjson') {
      ways.push(() => frame('lenient', `{"a":${random.pick(LENIENT)},${before}`, `${after}}`));
    } else {
      ways.push(
        () => frame('string', '', ''),
        () =>
          frame(
            'several lines',
            `{\n  ${before.replaceAll(':', ': ')}`,
            `${after},\r\n\t"n" : [ 1,\n2 ]\n}`,
          ),
      );
    }
    if (urlField.length > 1) {
      const [top = ''] = urlField;
      ways.push(
        () => frame('field of dots', `{"${urlField.join('.')}":${DECOY},${before}`, `${after}}`),
        () => frame('parent replaced', `{${before}`, `${after},"${top}":{"n":1}}`),
      );
    }
    return random.pick(ways)();
  }

  #bad(url: string): DrawnRecord {
    const random = this.#random;
    const { urlField, format } = this.#settings;
    const value = `"${jsonText(random, url, random.pick(SPELLINGS))}"`;
    const member = nested(urlField, value);
    const bad = (shape: string, text: string): DrawnRecord => ({ shape, text });
    const ways = [
      () => bad('no URL field', random.pick(['{}', '{ }', '{"n":1}', `{"a":{${member}}}`])),
      () =>
        bad(
          'URL field no string',
          `{${nested(urlField, random.pick(['7', 'null', '[]', '{}', `[${value}]`]))}}`,
        ),
      () => bad('no object', random.pick(NO_OBJECTS)),
    ];
    if (format === 'array') ways.push(() => bad('no object', `[{${member}}]`));
    if (this.#isLines) {
      ways.push(
        () =>
          bad(
            'no object',
            random.pick([
              'nonsense \x07\x7f\xff\xc3',
              value,
              `[{${member}}]`,
              ',',
              '}',
              'x'.repeat(1100),
            ]),
          ),
        () => bad('unclosed', `{${member}`),
        () => bad('unclosed', `{${member},`),
        () => bad('unclosed', `{"a":"b`),
        () => bad('rubbish after', `{${member}} ${random.pick(['x', '{}', '}', ',', '"'])}`),
        () => bad('bad escape', `{${nested(urlField, `"http://h/${random.pick(BROKEN)}"`)}}`),
        () => bad('no colon', `{"a" 1,${member}}`),
      );
    }
    return random.pick(ways)();
  }
}

function long(shape: string, before: string, middle: string, after: string, pad = 'a'): LongRecord {
  const ofLength = (bytes: number): DrawnRecord => {
    const room = Math.max(0, bytes - before.length - after.length);
    const rest = room % middle.length;
    const text = before + middle.repeat((room - rest) / middle.length) + pad.repeat(rest) + after;
    return { shape, text };
  };
  return { shape, ofLength };
}

/** `"a":{"n":0,"b":VALUE}` for the field `a.b`. */
function nested(urlField: readonly string[], value: string): string {
  const keys = urlField.map((key) => Buffer.from(JSON.stringify(key)).toString('latin1'));
  return `${keys.join(':{"n":0,')}:${value}${'}'.repeat(keys.length - 1)}`;
}

/** The text of `nested` before and after the value. */
function aroundValue(urlField: readonly string[]): [before: string, after: string] {
  const [before = '', after = ''] = nested(urlField, '\0').split('\0');
  return [before, after];
}

function inString(text: string): string {
  return text.replaceAll('"', '\\"');
}

/** Escapes the first letter of each key. */
function escapedKeys(members: string): string {
  let result = '';
  let inKey = false;
  for (let at = 0; at < members.length; at++) {
    const character = members.charAt(at);
    result += character;
    if (character !== '"') continue;
    inKey = !inKey;
    const code = members.charCodeAt(at + 1);
    if (!inKey || code >= 0x80) continue;
    result += `\\u${code.toString(16).padStart(4, '0')}`;
    at++;
  }
  return result;
}

/** The kind of a text URL, by its most unusual trait. */
function shapeOf(url: string): string {
  const kinds: readonly (readonly [string, string])[] = [
    ['\t', 'tab'],
    ['\r', 'carriage return'],
    ['\\', 'backslash'],
    ['@', 'userinfo'],
    ['/..', 'dot segments'],
    ['#', 'fragment'],
    ['%', 'percent'],
    ['<', 'encoded threefold'],
    ['?', 'query'],
  ];
  for (const [text, shape] of kinds) if (url.includes(text)) return shape;
  return url.startsWith('http') ? 'plain URL' : 'odd start';
}
