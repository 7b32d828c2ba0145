import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../../src/base/errors.js';
import { JsonRecords } from '../../../src/pipeline/input/json-records.js';
import { streamOf, streamSource } from '../../../src/pipeline/input/raw-input.js';
import { cases, every } from '../../random/cases.js';

type Bounds = { maxRecordBytes?: number; maxDepth?: number };

function recordsOf(chunks: Iterable<Buffer>, bounds: Bounds = {}): Readable {
  const source = streamSource(Readable.from(chunks));
  return streamOf(new JsonRecords(source, { name: 'in.json', ...bounds }));
}

/** The output, one character for each byte, and the error after it. */
async function outcomeOf(
  chunks: readonly Buffer[],
  bounds?: Bounds,
): Promise<{ readonly output: string; readonly error?: RobotsFilterError }> {
  const lines: Buffer[] = [];
  const output = () => Buffer.concat(lines).toString('latin1');
  try {
    for await (const chunk of recordsOf(chunks, bounds)) lines.push(chunk);
  } catch (error) {
    if (!(error instanceof RobotsFilterError)) throw error;
    return { output: output(), error };
  }
  return { output: output() };
}

/** The output, or the error. */
async function convert(chunks: readonly Buffer[], bounds?: Bounds): Promise<string | Error> {
  const { output, error } = await outcomeOf(chunks, bounds);
  return error ?? output;
}

const convertText = (text: string, bounds?: Bounds) =>
  convert([Buffer.from(text, 'latin1')], bounds);

/** Every split into two, or a hundred of a long input, and single bytes. */
function* splits(bytes: Buffer): Generator<Buffer[]> {
  for (let cut = 0; cut <= bytes.length; cut += every(Math.ceil(bytes.length / 100))) {
    yield [bytes.subarray(0, cut), bytes.subarray(cut)];
  }
  yield [bytes.subarray(0, -1), bytes.subarray(-1)];
  yield [...bytes].map((byte) => Buffer.of(byte));
}

/** A generator of numbers in [0, 1) that gives the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** JSON with known tokens, so that any white space can be written between them. */
class JsonWriter {
  readonly #random: () => number;
  constructor(random: () => number) {
    this.#random = random;
  }

  below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  pick(choices: readonly string[]): string {
    return choices[this.below(choices.length)] ?? '';
  }

  string(): string {
    const parts = [
      'url',
      'a',
      ' ',
      '  ',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '\\"',
      '\\\\',
      '\\/',
      '\\n',
    ];
    const others = ['\\u00e9', '\\ud800', '\\uDC00\\ud83d', 'é', '日本', '🤖', '\u2028', '\x7f'];
    const choices = [...parts, ...others, 'https://example.com/%7Ea?b=c', 'x'.repeat(300)];
    let text = '';
    for (let count = this.below(6); count > 0; count--) text += this.pick(choices);
    return `"${text}"`;
  }

  scalar(): string {
    const numbers = ['0', '-0', '1.0', '1e5', '1E+05', '-0.10e-2', '12345678901234567890'];
    return this.below(2) === 0 ? this.string() : this.pick([...numbers, 'true', 'false', 'null']);
  }

  value(depth: number): string[] {
    switch (depth === 0 ? 2 : this.below(4)) {
      case 0:
        return this.array(depth - 1);
      case 1:
        return this.object(depth - 1);
      default:
        return [this.scalar()];
    }
  }

  array(depth: number): string[] {
    const tokens = ['['];
    for (let count = this.below(4); count > 0; count--) {
      tokens.push(...this.value(depth), ...(count > 1 ? [','] : []));
    }
    return [...tokens, ']'];
  }

  object(depth: number): string[] {
    const tokens = ['{'];
    for (let count = this.below(5); count > 0; count--) {
      const key = this.pick(['"url"', '"url"', '"a"', this.string()]);
      tokens.push(key, ':', ...this.value(depth), ...(count > 1 ? [','] : []));
    }
    return [...tokens, '}'];
  }

  /** White space of a style: none, within lines, or anything. */
  space(style: number): string {
    if (style === 0) return '';
    return this.pick(style === 1 ? ['', ' ', '\t', '  '] : ['', ' ', '\n', '\r\n  ', '\t\n', '\r']);
  }

  spaced(tokens: readonly string[], style: number): string {
    return tokens.reduce((text, token) => text + this.space(style) + token);
  }
}

/** Values as input, the output of each, and all values as an array and one after another. */
function generate(seed: number) {
  const writer = new JsonWriter(seeded(seed));
  const values: string[] = [];
  const lines: string[] = [];
  for (let count = writer.below(6); count > 0; count--) {
    const tokens = writer.below(4) === 0 ? [writer.string()] : writer.object(3);
    values.push(writer.spaced(tokens, writer.below(3)));
    const isString = (token: string) => token.startsWith('"');
    lines.push(
      tokens.map((token) => (isString(token) ? JSON.stringify(JSON.parse(token)) : token)).join(''),
    );
  }
  const around = (text: string) => writer.space(2) + text + writer.space(2);
  return {
    values,
    output: lines.map((line) => `${line}\n`).join(''),
    array: around(`[${values.map(around).join(',') || writer.space(2)}]`),
    concatenated: values.map(around).join(''),
  };
}

describe('JSON arrays of records', () => {
  it('gives one record a line', async () => {
    const input = '[{"url":"https://a.example/"}, "https://b.example/",\n {"a": 1}\n]\n';
    expect(await convertText(input)).toBe(
      '{"url":"https://a.example/"}\n"https://b.example/"\n{"a":1}\n',
    );
  });

  it('keeps order, duplicates, numbers and lone surrogates', async () => {
    const record =
      '{ "b" : 1.0,\t"a":1e5,"a":12345678901234567890, "\\u0061":"\\/\\ud800\xc3\xa9\\u00e9" }';
    const line = '{"b":1.0,"a":1e5,"a":12345678901234567890,"a":"/\\ud800\xc3\xa9\xc3\xa9"}';
    expect(await convertText(`[\n  ${record} ,\r\n\t${record}\n]`)).toBe(`${line}\n${line}\n`);
  });

  it('refuses bytes that are not UTF-8, after the records before them', async () => {
    const good = '["\xc3\xa9","\xe2\x82\xac","\xf0\x9f\x98\x80",1,';
    const lines = '"\xc3\xa9"\n"\xe2\x82\xac"\n"\xf0\x9f\x98\x80"\n1\n';
    const bad = [
      '\xff',
      '\x80',
      '\xc3b',
      '\xe2\x82',
      '\xc0\x80',
      '\xed\xa0\x80',
      '\xf4\x90\x80\x80',
    ];
    for (const bytes of bad) {
      for (const chunks of splits(Buffer.from(`${good}"a${bytes}"]`, 'latin1'))) {
        const { output, error } = await outcomeOf(chunks);
        expect(output).toBe(lines);
        expect(error?.message).toContain(
          `byte ${good.length + 2} (line 1): this byte is not UTF-8`,
        );
      }
    }
    const { error } = await outcomeOf([Buffer.from('"a"\n"\xe2\x82', 'latin1')]);
    expect(error?.message).toContain('byte 5 (line 2): this byte is not UTF-8');
  });

  it('drops only white space outside strings', async () => {
    const input = '[{\r\n  "a b" : [ 1 , "\\" \\\\ " ],\n\t"c\\"d": { }\n}]';
    expect(await convertText(input)).toBe('{"a b":[1,"\\" \\\\ "],"c\\"d":{}}\n');
  });

  it('passes values that are neither objects nor strings', async () => {
    const input = '[1, -2.50 ,null,true,[ 1, [] ],[],"",{}]';
    expect(await convertText(input)).toBe('1\n-2.50\nnull\ntrue\n[1,[]]\n[]\n""\n{}\n');
  });

  it.each(['', ' \r\n\t', '[]', ' [ \n ] ', '[][] []'])('gives nothing for %j', async (input) => {
    expect(await convertText(input)).toBe('');
  });
});

describe('concatenated JSON', () => {
  it('gives one record a line', async () => {
    const input = '{"a":1}{"a":2}\n{\n "a": 3 }"s""t" ["u",{"a":4}][[5]] 6 null 7';
    expect(await convertText(input)).toBe(
      '{"a":1}\n{"a":2}\n{"a":3}\n"s"\n"t"\n"u"\n{"a":4}\n[5]\n6\nnull\n7\n',
    );
  });
});

describe('generated JSON', () => {
  it('is unchanged however the input is split', async () => {
    let records = 0;
    let runs = 0;
    for (let seed = 1; seed <= cases(12); seed++) {
      const { values, output, array, concatenated } = generate(seed);
      const expected = Buffer.from(output).toString('latin1');
      const parsed = output
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
      expect(parsed).toEqual(JSON.parse(array));
      expect(parsed).toEqual(values.map((value) => JSON.parse(value)));
      records += values.length;
      for (const input of [array, concatenated]) {
        const bytes = Buffer.from(input);
        if (bytes.length > 2_000) {
          expect(await convert([bytes])).toBe(expected);
          continue;
        }
        for (const chunks of splits(bytes)) {
          const result = await convert(chunks);
          if (result !== expected) expect({ seed, chunks, result }).toEqual(expected);
          runs++;
        }
      }
    }
    expect(records).toBeGreaterThan(20);
    expect(runs).toBeGreaterThan(1_200);
  }, 60_000);

  it('is refused if and only if JSON.parse refuses it', async () => {
    const random = seeded(9309);
    const oddBytes = '{}[],:"\\ \n\t\0au0159-+.eEtrfnls\x80\xff\xef';
    let refused = 0;
    let accepted = 0;
    let misencoded = 0;
    for (let round = 0; round < cases(260); round++) {
      const { array } = generate(round % 200);
      const input = [...Buffer.from(array).toString('latin1')];
      for (let edits = 1 + Math.floor(random() * 2); edits > 0; edits--) {
        const at = Math.floor(random() * input.length);
        const byte = oddBytes.charAt(Math.floor(random() * oddBytes.length));
        input.splice(at, Math.floor(random() * 2), ...(random() < 0.7 ? [byte] : []));
      }
      const text = input.join('');
      // Within an additional array only an array is JSON; other values after it are invalid.
      const bytes = Buffer.from(`[${text}]`, 'latin1');
      const cut = Math.floor(random() * bytes.length);
      const result = await convert([bytes.subarray(0, cut), bytes.subarray(cut)]);
      if (!isUtf8(bytes)) {
        expect(result).toBeInstanceOf(RobotsFilterError);
        misencoded++;
        continue;
      }
      let parsed: unknown;
      try {
        parsed = JSON.parse(bytes.toString());
      } catch {
        // Two consecutive arrays are JSON values but not a JSON text.
        if (result instanceof Error) refused++;
        else expect(text).toMatch(/\][\s]*\[/);
        continue;
      }
      accepted++;
      if (result instanceof Error) throw new Error(`refused: ${JSON.stringify(text)}`);
      const lines = Buffer.from(result, 'latin1').toString().split('\n').slice(0, -1);
      expect(lines.map((line) => JSON.parse(line))).toEqual(parsed);
    }
    expect(misencoded).toBeGreaterThan(10);
    expect(refused).toBeGreaterThan(80);
    expect(accepted).toBeGreaterThan(80);
  }, 60_000);
});

describe('any input', () => {
  it('has the same outcome however the input is split', async () => {
    const random = seeded(8259);
    const below = (bound: number) => Math.floor(random() * bound);
    const words = ['tru', 'true', 'nul', 'null', 'false', '1', '0', '-', '.5', 'e', '1e5', 'u'];
    const strings = ['"a"', '"b":', '"\\u12', '"\\', '"', '"xx\\n"', '\\', 'x'.repeat(300)];
    const values = ['{"a":1}', '["x"]', '{', '}', '[', ']', ',', ':'];
    const others = [' ', '\n', '\r\n', ' '.repeat(20), '\0', '\xff'];
    const fragments = [...words, ...strings, ...values, ...others];
    let refused = 0;
    let broken = 0;
    for (let round = 0; round < cases(150); round++) {
      let text = '';
      for (let count = 1 + below(25); count > 0; count--)
        text += fragments[below(fragments.length)];
      const bytes = Buffer.from(text, 'latin1');
      const bounds = { maxDepth: 2 + below(8), maxRecordBytes: 3 + below(60) };
      const outcome = await outcomeOf([bytes], bounds);
      if (outcome.error !== undefined) refused++;
      if (outcome.error !== undefined && outcome.output !== '') broken++;
      for (const longest of [1, 12, 12]) {
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; ) {
          const length = 1 + below(longest);
          chunks.push(bytes.subarray(at, at + length));
          at += length;
        }
        expect(await outcomeOf(chunks, bounds), text).toEqual(outcome);
      }
    }
    expect(refused).toBeGreaterThan(100);
    expect(refused).toBeLessThan(cases(150) - 1);
    expect(broken).toBeGreaterThan(10);
  });
});

/** The line that replaces a rejected record. */
const LONG = '\x01J';
const DEEP = '\x01N';

describe('input that is not JSON', () => {
  const cases: [input: string, place: string, note: string][] = [
    ['[{"a":1},\n {"a":}]', 'byte 16 (line 2)', 'no value'],
    ['[{"a":1}\n {"a":2}]', 'byte 10 (line 2)', 'no comma'],
    ['{"a":1},{"a":2}', 'byte 7 (line 1)', 'a comma outside an array'],
    ['[{"a":1},]', 'byte 9 (line 1)', 'a comma too many'],
    ['[,]', 'byte 1 (line 1)', 'a comma first'],
    ['[{"a":1,}]', 'byte 8 (line 1)', 'a comma at the end of an object'],
    ['[{"a":1]]', 'byte 7 (line 1)', 'brackets that do not match'],
    ['[{"a" 1}]', 'byte 6 (line 1)', 'no colon'],
    ['[{a:1}]', 'byte 2 (line 1)', 'a key without quotes'],
    ["['a']", 'byte 1 (line 1)', 'single quotes'],
    ['[tru]', 'byte 1 (line 1)', 'no word of JSON'],
    ['{"a":nul}\n\n', 'byte 5 (line 1)', 'no word of JSON, at the end'],
    ['[{"a":tru', 'byte 6 (line 1)', 'half a word of JSON'],
    ['["a",tru"]', 'byte 5 (line 1)', 'no word of JSON, and then a quote'],
    ['[{"a":"\\x"}]', 'byte 7 (line 1)', 'no escape'],
    ['[{"a":"\\u12"}]', 'byte 7 (line 1)', 'half an escape'],
    ['["a\nb"]', 'byte 3 (line 1)', 'a line break in a string'],
    ['["a\0b"]', 'byte 3 (line 1)', 'a NUL in a string'],
    ['[01]', 'byte 2 (line 1)', 'a leading zero'],
    ['[1.]', 'byte 3 (line 1)', 'no digit after the point'],
    ['[+1]', 'byte 1 (line 1)', 'a plus sign'],
    ['[NaN]', 'byte 1 (line 1)', 'not a number'],
    ['["a"]\n\nx', 'byte 7 (line 3)', 'something else after the end'],
    ['["a"]]', 'byte 5 (line 1)', 'a bracket too many'],
    ['}', 'byte 0 (line 1)', 'a brace to begin with'],
    ['\xef\xbb\xbf[]', 'byte 0 (line 1)', 'a byte order mark, which is dropped before'],
    ['["a",\xc2\xa0"b"]', 'byte 5 (line 1)', 'white space that is none to JSON'],
    ['[\r\n"a",\r\n// b\r\n]', 'byte 9 (line 3)', 'a comment'],
    [`[${' '.repeat(100)}{"a":${'\n'.repeat(50)}?}]`, 'byte 156 (line 51)', 'far into a record'],
    [`["${'x'.repeat(1000)}","${'y'.repeat(1000)}\t"]`, 'byte 2005 (line 1)', 'a long string'],
  ];
  it.each(cases)('%j: %s, %s', async (input, place) => {
    for (const chunks of splits(Buffer.from(input, 'latin1'))) {
      const error = await convert(chunks);
      if (!(error instanceof RobotsFilterError)) throw new Error(`accepted: ${error}`);
      expect(error.code).toBe('input');
      expect(error.message).toContain(`in.json: ${place}: this is not JSON: `);
    }
  });

  it.each([
    ['[{"a":1},\n{"a":2},\n{"a":}]', '{"a":1}\n{"a":2}\n'],
    ['{"a":1}{\n"a":2}\n{"a" 3}{"a":4}', '{"a":1}\n{"a":2}\n'],
    ['[{"a":1} {"a":2}]', '{"a":1}\n'],
    ['"u"\n7 +1', '"u"\n7\n'],
    ['[1.]', ''],
    [
      '["xxxxxxxxxx",{"a":1},[[[[1]]]],{"b":2},x]',
      `${LONG}"xxxxxxxxxx"\n{"a":1}\n${DEEP}[[[[1]]]]\n{"b":2}\n`,
    ],
    ['[{"a":1},["xxxxxxxxxx",tru],1]', '{"a":1}\n'],
  ])('lets the records before the fault out: %s', async (input, expected) => {
    for (const chunks of splits(Buffer.from(input))) {
      const outcome = await outcomeOf(chunks, { maxRecordBytes: 10, maxDepth: 4 });
      expect(outcome).toEqual({ output: expected, error: expect.any(RobotsFilterError) });
    }
  });

  it('is an error with what was expected, what was found and a remedy', async () => {
    const error = await convertText('[{"url":"https://a.example/"}\n{}]');
    expect(String(error)).toBe(
      "RobotsFilterError: in.json: byte 30 (line 2): this is not JSON: expected ',', found {. " +
        'Correct it there. If the whole input is something else, use --input ndjson ' +
        '(one object per line) or --input text (one URL per line).',
    );
  });

  it.each([
    ['[', 'byte 1 (line 1): the input ends within an array'],
    ['[{"a":1},\n', 'byte 10 (line 2): the input ends within an array'],
    ['[1', 'byte 2 (line 1): the input ends within an array'],
    ['[{"a":1},\n{"a"', 'byte 14 (line 2): the input ends within record 2'],
    ['{"a":"x', 'byte 7 (line 1): the input ends within record 1'],
    ['"x\\', 'within record 1'],
    ['"x\\u12', 'within record 1'],
  ])('%j is cut off: %s', async (input, place) => {
    for (const chunks of splits(Buffer.from(input, 'latin1'))) {
      const error = await convert(chunks);
      expect(error).toBeInstanceOf(RobotsFilterError);
      expect(String(error)).toContain(place);
    }
  });
});

/**
 * The output of a value under bounds, computed from its line.
 *
 * @param around number of open brackets around the value
 */
function expectedLine(line: string, around: number, bounds: Required<Bounds>): string {
  let depth = around;
  let inString = false;
  let deepAfter = Number.POSITIVE_INFINITY;
  for (let index = 0; index < line.length; index++) {
    const character = line.charAt(index);
    if (inString) {
      if (character === '\\') index++;
      else inString = character !== '"';
    } else if (character === '"') {
      inString = true;
    } else if (character === '{' || character === '[') {
      if (++depth > bounds.maxDepth) deepAfter = Math.min(deepAfter, index);
    } else if (character === '}' || character === ']') {
      depth--;
    }
  }
  const isLong = line.length > bounds.maxRecordBytes;
  const isDeep = deepAfter < bounds.maxRecordBytes;
  if (!isLong && !isDeep) return line;
  // A character that is cut off is not shown.
  const bytes = Buffer.from(line, 'latin1').subarray(0, 1024);
  const shown = Buffer.from(new TextDecoder().decode(bytes, { stream: true }));
  return `${isDeep ? DEEP : LONG}${shown.toString('latin1')}`;
}

describe('the bounds', () => {
  it('reject single records, in their places, however the input is split', async () => {
    const random = seeded(1009);
    const below = (bound: number) => Math.floor(random() * bound);
    const seen = { long: 0, deep: 0, passed: 0, atLimit: 0, cuts: 0 };
    for (let seed = 1; seed <= cases(12); seed++) {
      const { output, array, concatenated } = generate(seed);
      const lines = Buffer.from(output).toString('latin1').split('\n').slice(0, -1);
      for (const [text, around] of [[array, 1] as const, [concatenated, 0] as const]) {
        const bytes = Buffer.from(text);
        for (let round = 0; round < 6; round++) {
          const pivot = lines[below(lines.length)]?.length ?? 9;
          const bounds = {
            maxRecordBytes: Math.max(1, round < 3 ? pivot - 1 + round : 1 + below(400)),
            maxDepth: round >= 4 ? 2 + below(3) : 1_000,
          };
          const expected = lines.map((line) => {
            if (line.length === bounds.maxRecordBytes) seen.atLimit++;
            return expectedLine(line, around, bounds);
          });
          for (const line of expected) {
            seen[line.startsWith(LONG) ? 'long' : line.startsWith(DEEP) ? 'deep' : 'passed']++;
          }
          const whole = expected.map((line) => `${line}\n`).join('');
          for (const longest of [bytes.length, 1 + below(200), 1 + below(9)]) {
            const chunks: Buffer[] = [];
            for (let at = 0; at < bytes.length; ) {
              const length = 1 + below(longest);
              chunks.push(bytes.subarray(at, at + length));
              at += length;
            }
            const result = await convert(chunks, bounds);
            if (result !== whole)
              expect(String(result), JSON.stringify({ seed, bounds })).toBe(whole);
            seen.cuts += chunks.length;
          }
        }
      }
    }
    expect(seen.long).toBeGreaterThan(50);
    expect(seen.deep).toBeGreaterThan(10);
    expect(seen.passed).toBeGreaterThan(50);
    expect(seen.atLimit).toBeGreaterThan(20);
    expect(seen.cuts).toBeGreaterThan(2_500);
  }, 60_000);

  it('allow a depth of 1,000 brackets and braces, including those around the record', async () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(await convertText(nested(1_000))).toBe(`${nested(999)}\n`);
    const shown = `${DEEP}${nested(1_000).slice(0, 1024)}\n`;
    expect(await convertText(`[1,${nested(1_000)},2]`)).toBe(`1\n${shown}2\n`);
    const record = `{"a":${nested(1_000)},"url":"https://a.example/"}`;
    expect(await convertText(`${record}3`)).toBe(`${DEEP}${record.slice(0, 1024)}\n3\n`);
    for (const input of ['['.repeat(200_000), '[{"a":'.repeat(100_000)]) {
      expect(String(await convertText(input))).toContain('the input ends within record 1');
    }
  });

  it('count depth across chunks', async () => {
    for (const chunks of splits(Buffer.from('[{"a":[{"b":[1]}]}]'))) {
      expect(await convert(chunks, { maxDepth: 5 })).toBe('{"a":[{"b":[1]}]}\n');
      expect(await convert(chunks, { maxDepth: 4 })).toBe(`${DEEP}{"a":[{"b":[1]}]}\n`);
      expect(await convert(chunks, { maxDepth: 1 })).toBe(`${DEEP}{"a":[{"b":[1]}]}\n`);
    }
  });

  it('limit the bytes of the line', async () => {
    for (const chunks of splits(Buffer.from('[{"a":1},\n{"a":12} , "1234567",123456789,[ ] ]'))) {
      expect(await convert(chunks, { maxRecordBytes: 9 })).toBe(
        '{"a":1}\n{"a":12}\n"1234567"\n123456789\n[]\n',
      );
      expect(await convert(chunks, { maxRecordBytes: 8 })).toBe(
        `{"a":1}\n{"a":12}\n${LONG}"1234567"\n${LONG}123456789\n[]\n`,
      );
    }
    for (const chunks of splits(Buffer.from('["éééé",{ "é" : [\r\n ] }]'))) {
      const passed = Buffer.from('"éééé"\n{"é":[]}\n').toString('latin1');
      expect(await convert(chunks, { maxRecordBytes: 10 })).toBe(passed);
      expect(await convert(chunks, { maxRecordBytes: 9 })).toBe(`${LONG}${passed}`);
    }
  });

  it('reject no record that is not JSON', async () => {
    const deep = '[[["a\nb"]], 1]';
    expect(String(await convertText(deep, { maxDepth: 2 }))).toContain('byte 5 (line 1)');
  });

  it.each([
    [
      '[{"a":tru,"b":"xxxxxxxxxx"}]',
      'byte 6 (line 1): this is not JSON: expected a value, found t',
    ],
    ['[{"b":"xxxxxxxxxx","a":tru}]', 'byte 23 (line 1): this is not JSON: expected a value'],
    ['[{"b":"xxx\\qxxxxxxx"}]', 'byte 10 (line 1): this is not JSON: expected an escape'],
    ['["xxxxxxxxxx",\n{"a":"yyyyyyyyyyyyyyy"}\n{}]', "(line 3): this is not JSON: expected ','"],
    ['[["a","bcdefghi",\n"x",]]', 'byte 22 (line 2): this is not JSON: unexpected token'],
    ['[11111111111111 1]', "byte 16 (line 1): this is not JSON: expected ',', found 1"],
    ['[{"a":[[[[[[[1]]]]]}]', "byte 19 (line 1): this is not JSON: expected ']', found }"],
    ['[{"a":1[[[[[[[1]]]]]]]}]', "byte 7 (line 1): this is not JSON: expected ',', found ["],
    ['[{"a":"x"[[[[1]]]]}]', "byte 9 (line 1): this is not JSON: expected ',', found ["],
    ['[{[[[[1]]]]:1}]', 'byte 2 (line 1): this is not JSON: expected an object key, found ['],
    ['[{"a":[[[[1]]]]1}]', "byte 15 (line 1): this is not JSON: expected ',', found 1"],
  ])('do not excuse what is no JSON: %s', async (input, place) => {
    for (const chunks of splits(Buffer.from(input))) {
      const error = await convert(chunks, { maxRecordBytes: 8, maxDepth: 4 });
      expect(error).toBeInstanceOf(RobotsFilterError);
      expect(String(error)).toContain(place);
    }
  });

  it.each([
    ['a string', '[{"a":"', 'x', 'the input ends within record 1'],
    ['digits', '[', '1', 'the input ends within an array'],
    ['brackets', '[', '[', 'record 1 has more than 1048576 open brackets. Leave it out.'],
    ['white space', '[{', ' \n', 'the input ends within record 1'],
    ['members', '[{"b":1', ',"a":1', 'the input ends within record 1'],
  ])('keep little of a record without end: %s', async (_, start, filling, expected) => {
    const chunk = Buffer.from(filling.repeat(100_000 / filling.length));
    function* long() {
      yield Buffer.from(start);
      for (let count = 0; count < 60; count++) {
        yield chunk;
        if (count % 10 === 9) most = Math.max(most, process.memoryUsage().rss);
      }
    }
    const before = process.memoryUsage().rss;
    let most = 0;
    const reading = recordsOf(long(), { maxRecordBytes: 300_000 }).toArray();
    await expect(reading).rejects.toThrow(expected);
    expect(most - before).toBeLessThan(100_000_000);
    expect(most).toBeGreaterThan(0);
  });

  it('loses no URL before a fault after bytes that are too many to keep', async () => {
    const chunks = [Buffer.from('["a",\n7')];
    for (let count = 0; count < 20; count++) chunks.push(Buffer.alloc(1 << 20, ' '));
    chunks.push(Buffer.from(',"b\\"",\n"c","d" x]'));
    const { output, error } = await outcomeOf(chunks);
    expect(output).toBe('"a"\n7\n"b\\""\n"c"\n"d"\n');
    const place = `byte ${7 + 20 * 2 ** 20 + 16} (line 3)`;
    expect(String(error)).toContain(`${place}: this is not JSON: expected ',', found x`);
    chunks[chunks.length - 1] = Buffer.from('x]');
    const inBlank = await outcomeOf(chunks);
    expect(inBlank.output).toBe('"a"\n');
    expect(String(inBlank.error)).toContain(
      `byte ${7 + 20 * 2 ** 20} (line 2): this is not JSON, at most 2 bytes later: expected ','`,
    );
  });

  it('assembles a record from many chunks', async () => {
    const long = `{"a":"${'é\\"'.repeat(100_000)}"}`;
    const bytes = Buffer.from(`[1,${long},\n${long}]`);
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += 1_009) chunks.push(bytes.subarray(at, at + 1_009));
    const expected = Buffer.from(`1\n${long}\n${long}\n`).toString('latin1');
    expect((await convert(chunks)) === expected).toBe(true);
  });

  it('reads no more than it can pass on', async () => {
    let taken = 0;
    function* endless() {
      yield Buffer.from('[0');
      for (; ; taken++) yield Buffer.from(',"https://example.com/"'.repeat(1_000));
    }
    const records = recordsOf(endless());
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = taken;
    expect(before).toBeLessThan(40);
    for await (const _ of records) if (taken > before + 100) break;
    expect(taken).toBeGreaterThan(before);
  });
});
