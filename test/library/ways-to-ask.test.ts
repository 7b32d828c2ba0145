import { isUtf8 } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import {
  BLOCK_OFFSET,
  BlockCompiler,
  type ResidentBlock,
  RobotsMemory,
} from '../../src/judge/robots.js';
import { Arena, createMemory, PAGE_BYTES } from '../../src/kernel/kernel.js';
import { Session } from '../../src/kernel/session.js';
import {
  type Profile,
  parseAuthority,
  Robots,
  Table,
  TableBuilder,
} from '../../src/library/index.js';
import { placeRules } from '../../src/protocol/parse.js';
import { TAIL_BYTES } from '../../src/table/format.js';
import { ShardView } from '../../src/view/shard-view.js';
import { hostileFile } from '../hostile/file.js';
import { hostileUrl } from '../hostile/url.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const PROFILES: readonly Profile[] = ['rfc9309', 'google', 'draft-koster-rep-00'];
const ANY_HOST = 'any.invalid';
const AT = 1024;

/** A robots.txt, and questions with the answers of a table that holds only this file. */
interface Asked {
  readonly body: Uint8Array;
  readonly profile: Profile;
  readonly questions: readonly { readonly url: string; readonly chain: readonly string[] }[];
  readonly answers: readonly string[];
}

/** Judges by a whole table of one file, which applies to every host. */
function tableAnswers(asked: Omit<Asked, 'answers'>): string[] {
  const { body, profile, questions } = asked;
  const builder = new TableBuilder({ profile });
  builder.add({ scheme: undefined, host: ANY_HOST, port: undefined }, body, { source: '' });
  const bytes = builder.build();
  const view = new ShardView(bytes);
  const memory = createMemory(AT + bytes.length + TAIL_BYTES);
  new Uint8Array(memory.buffer).set(bytes, AT);
  const session = new Session(new Arena(memory));
  const target = {
    profile,
    table: AT,
    anyHost: view.find(ANY_HOST)?.authorities[0]?.robots ?? 0,
    tokenNumber: (token: string) => view.tokenNumber(token),
    checkAgent() {},
  };
  return questions.map(({ url, chain }) => JSON.stringify(session.judge(url, chain, target)));
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Files of all profiles; every second one is asked for one crawler only. */
function askedFiles(count: number): Asked[] {
  return Array.from({ length: count }, (_, seed) => {
    const profile = PROFILES[seed % 3] as Profile;
    const chains = 1 + (seed % 2);
    const file = hostileFile(new Random(seed), profile, { urls: 6, chains });
    const questions = file.urls.flatMap((url) => file.chains.map((chain) => ({ url, chain })));
    const asked = { body: bytesOf(file.robots), profile, questions };
    return { ...asked, answers: tableAnswers(asked) };
  });
}

/** All questions of all files, in any order. */
function shuffledQuestions(files: readonly Asked[], random: Random): [number, number][] {
  const all = files.flatMap(({ questions }, file) =>
    questions.map((_, question): [number, number] => [file, question]),
  );
  for (let at = all.length - 1; at > 0; at--) {
    const other = random.between(0, at);
    [all[at], all[other]] = [all[other] as [number, number], all[at] as [number, number]];
  }
  return all;
}

describe('many Robots in one memory', () => {
  const files = askedFiles(300);

  it('answer in any order as a table of each file does', () => {
    const objects = files.map(({ body, profile }, index) => {
      // Bytes, and where they are UTF-8 also strings, which are encoded when they are needed.
      const isString = index % 3 > 0 && isUtf8(body);
      return Robots.parse(isString ? Buffer.from(body).toString() : body, { profile });
    });
    const verdicts = new Map<string, number>();
    for (const [file, question] of shuffledQuestions(files, new Random(1))) {
      const { questions, answers } = files[file] as Asked;
      const { url, chain } = questions[question] as Asked['questions'][number];
      const robots = objects[file] as Robots;
      const agent = question % 3 === 0 ? chain : chain.join('>');
      const judgement = robots.verdict(url, agent);
      expect(JSON.stringify(judgement)).toBe(answers[question]);
      expect(robots.isAllowed(url, agent)).toBe(judgement.verdict === 'allow');
      expect(robots.isDisallowed(url, agent)).toBe(judgement.verdict === 'deny');
      verdicts.set(judgement.verdict, (verdicts.get(judgement.verdict) ?? 0) + 1);
    }
    for (const verdict of ['allow', 'deny', 'invalid']) {
      expect(verdicts.get(verdict) ?? 0).toBeGreaterThan(50);
    }
  });

  it('answer when the memory is full again and again', () => {
    const compiler = new BlockCompiler();
    const memory = new RobotsMemory(2 * PAGE_BYTES);
    // Sizes from none to a whole region and more.
    const paddings = [0, 0, 0, 3000, PAGE_BYTES - TAIL_BYTES, 3 * PAGE_BYTES];
    const blocks = files.map(({ body, profile }, index) => {
      const { bytes, tokens } = compiler.compile(placeRules(body, { profile }), profile);
      const padding = index % 50 === 7 ? (paddings[index % 6] ?? 0) : 300 * (index % 9);
      const padded = new Uint8Array(bytes.length + padding);
      padded.set(bytes);
      return { bytes: padded, tokens };
    });
    const residents: (ResidentBlock | undefined)[] = [];
    let copies = 0;
    const rounds = new Set<number>();
    for (const [file, question] of shuffledQuestions(files, new Random(2))) {
      const { profile, questions, answers } = files[file] as Asked;
      let resident = residents[file];
      if (resident === undefined || !memory.holds(resident)) {
        resident = memory.load(blocks[file] as (typeof blocks)[number], profile);
        residents[file] = resident;
        rounds.add(resident.round);
        copies++;
      }
      expect(resident.table + BLOCK_OFFSET).toBeGreaterThan(0);
      const { url, chain } = questions[question] as Asked['questions'][number];
      expect(JSON.stringify(memory.session.judge(url, chain, resident))).toBe(answers[question]);
    }
    expect(rounds.size).toBeGreaterThan(20);
    expect(copies).toBeGreaterThan(2 * files.length);
  });

  it('keep no view of the bytes that they were made of', () => {
    const body = Buffer.from('user-agent: *\ndisallow: /a\n');
    const robots = Robots.parse(body);
    body.fill('#');
    expect(robots.isDisallowed('/a', 'x')).toBe(true);
    expect(robots.groups).toHaveLength(1);
  });
});

/** A table whose hosts are those of the hostile URLs. */
function hostileTable(seed: number, profile: Profile): { table: Table; urls: string[] } {
  const random = new Random(seed);
  const file = hostileFile(random, profile, { urls: 0, chains: 1 });
  const builder = new TableBuilder({ profile });
  for (const name of ['http://h.example', 'https://h.example', 'www.example.com', 'http://h']) {
    const authority = parseAuthority(name);
    if (authority === undefined) throw new Error(name);
    builder.add(authority, bytesOf(file.robots), { source: name });
  }
  const spoil = ['\n', '\r', '\t', ' ', '\0', '\r\n', '\u{d800}', '\u{212a}', '#', '\x1f'];
  const urls = Array.from({ length: random.pick([1, 40, 511, 512, 513, 700]) }, () => {
    const url = hostileUrl(random, profile, file.patterns);
    if (random.chance(0.002)) return random.pick(['', ' ', '\n', '\r\n', '\t', 'no URL']);
    if (random.chance(0.01)) return url + random.pick(spoil);
    if (!random.chance(0.002)) return url;
    const at = random.between(0, url.length);
    return url.slice(0, at) + random.pick(spoil) + url.slice(at);
  });
  return { table: Table.from(builder.build()), urls };
}

describe('Table.verdicts', () => {
  it.each(PROFILES)('gives the verdicts of Table.verdict, profile %s', (profile) => {
    const counts = new Map<string, number>();
    for (let seed = 1; seed <= cases(24); seed++) {
      const { table, urls } = hostileTable(seed, profile);
      const expected = urls.map((url) => table.verdict(url, 'a-bot>b_bot').verdict);
      expect(table.verdicts(urls, 'a-bot>b_bot')).toEqual(expected);
      for (const verdict of expected) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    }
    for (const verdict of ['allow', 'deny', 'unknown', 'invalid']) {
      expect(counts.get(verdict) ?? 0, verdict).toBeGreaterThan(100);
    }
  });

  it('takes URLs of any length beside others, and no URL', () => {
    const { table } = hostileTable(1, 'rfc9309');
    expect(table.verdicts([], 'a')).toEqual([]);
    const start = 'http://h.example/';
    const near = (bytes: number) => [bytes - 2, bytes - 1, bytes, bytes + 1];
    for (const letter of ['a', '\u{e9}', '\u{20ac}']) {
      for (const length of [...near(1 << 14), ...near(1 << 15), ...near(3 << 15)]) {
        const long = start + letter.repeat(length - start.length);
        for (const urls of [[long], [start, long, start], [long, long]]) {
          const expected = urls.map((url) => table.verdict(url, 'a-bot').verdict);
          expect(table.verdicts(urls, 'a-bot')).toEqual(expected);
        }
      }
    }
  });
});

describe('a URL as large as the room for it, or a byte larger', () => {
  const rules = bytesOf('user-agent: *\ndisallow: /*/end$\nallow: /*%C3%A9/end$\n');

  it.each(['', '\u{e9}'])('is judged whole, ending in %j', (letter) => {
    const expected = letter === '' ? 'deny' : 'allow';
    const builder = new TableBuilder();
    builder.add({ scheme: 'http', host: 'h', port: undefined }, rules, { source: '' });
    // A new table, whose room has not grown yet.
    const table = Table.from(builder.build());
    for (let pages = 1; pages <= 3; pages++) {
      // A page holds a fifth of a page of URL, less the margins; the search covers both edges.
      const most = Math.floor((pages * PAGE_BYTES) / 5);
      for (let length = most - 240; length <= most + 2; length++) {
        for (const units of [Math.floor(length / 3), length]) {
          const url = `http://h/${'a'.repeat(units - 14)}${letter}/end`;
          expect(table.verdict(url, 'x').verdict).toBe(expected);
        }
      }
    }
  });
});
