import { beforeAll, describe, expect, it } from 'vitest';
import { USE_REASONS, USE_WORDS } from '../../src/protocol/uses.js';
import { REASONS, VERDICTS } from '../../src/protocol/verdict.js';
import { lines, Workplace } from '../cli/command-line.js';
import { Random } from '../random/random.js';
import { drawnFile, TARGETS } from '../uses/uses.js';
import { type Answer, GREETING, parseOutput, request } from './frames.js';

const AGENTS = ['bot', 'image:other', '*'];
const USES = ['train', 'search', 'input', 'own'];
const POLICY_TOKENS = { train: 'notrain', own: 'other' };
const OUTCOMES = AGENTS.length * (1 + USES.length);
const HOSTS = 60;
const START = 1_700_000_000;
const STEP = 1000;

/** A workplace with a table of drawn robots.txt files, `h.table`, and in shards, `shards`. */
let place: Workplace;

beforeAll(async () => {
  place = new Workplace(false);
  const random = new Random(4801);
  const records = Array.from({ length: HOSTS }, (_, host) =>
    [0, 1].map((version) => {
      const fetched = new Date(1000 * (START + version * STEP)).toISOString();
      return JSON.stringify({ host: `h${host}.example`, robots: drawnFile(random), fetched });
    }),
  );
  place.write('robots.ndjson', `${records.flat().join('\n')}\n`);
  const compile = 'compile -q --history --signals --robots-dir robots.ndjson';
  for (const output of ['-o h.table', '--shards 3 -o shards']) {
    expect(await place.run(`${compile} ${output}`)).toMatchObject({ code: 0, stderr: '' });
  }
  place.write('plain.ndjson', '{"host":"h.example","robots":"User-agent: *\\nDisallow: /a\\n"}\n');
  await place.run('compile -q --robots-dir plain.ndjson -o plain.table');
  return () => place.remove();
});

const manyUses = Array.from({ length: 6000 }, (_, number) => `k${number}`);
const named = (uses: readonly string[], policyTokens?: Readonly<Record<string, string>>): string =>
  JSON.stringify({ uses, policyTokens });

/** What `serve` answers to requests. */
async function answersTo(
  table: string,
  requests: readonly Buffer[],
): Promise<{ readonly answers: readonly Answer[]; readonly facts: Record<string, unknown> }> {
  const input = Buffer.concat([GREETING, ...requests]);
  const { code, stdout, stderr } = await place.runAlone(['serve', '--table', table], input);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return parseOutput(stdout);
}

/** An outcome as the frames have it. */
interface Outcome {
  readonly word: number;
  readonly reason: string | undefined;
  readonly line: number | undefined;
  readonly text: string | undefined;
}

/** Reads an answer with explanations. */
function outcomesOf({ kind, content }: Answer, count: number, outcomes: number): Outcome[][] {
  expect(kind).toBe(1);
  const total = count * outcomes;
  const linesAt = 4 * Math.ceil((2 * total) / 4);
  const rulesAt = linesAt + 4 * total;
  const textsAt = rulesAt + 4 * total;
  const offsetsAt = textsAt + 4;
  const bytesAt = offsetsAt + 4 * (content.readUInt32LE(textsAt) + 1);
  const textOf = (rule: number): string => {
    const [start, end] = [0, 4].map((at) => content.readUInt32LE(offsetsAt + 4 * rule + at));
    return content.toString('utf8', bytesAt + (start ?? 0), bytesAt + (end ?? 0));
  };
  return Array.from({ length: count }, (_, url) =>
    Array.from({ length: outcomes }, (_, column) => {
      const at = column * count + url;
      const rule = content.readInt32LE(rulesAt + 4 * at);
      return {
        word: content[at] as number,
        reason: [...REASONS, ...USE_REASONS][content[total + at] as number],
        line: rule === -1 ? undefined : content.readUInt32LE(linesAt + 4 * at),
        text: rule === -1 ? undefined : textOf(rule),
      };
    }),
  );
}

describe('a request about uses', () => {
  it('has the answers of the command line, with times and in shards, too', async () => {
    const random = new Random(4802);
    const urls = Array.from({ length: 901 }, () => {
      const path = random.pick(TARGETS);
      return random.chance(0.02)
        ? 'nonsense'
        : `https://h${random.between(0, HOSTS + 2)}.example${path}`;
    });
    const times = urls.map(() => START + random.between(-1, 1) + random.between(0, 1) * STEP);
    const records = urls.map((url, index) =>
      JSON.stringify({ url, time: new Date(1000 * (times[index] ?? 0)).toISOString() }),
    );
    place.write('urls.ndjson', `${records.join('\n')}\n`);
    const seen = new Map<string, number>();
    for (const timed of [false, true]) {
      const words = [
        ...['--table', 'h.table', '--agent', AGENTS.join(','), '--use', USES.join(',')],
        ...Object.entries(POLICY_TOKENS).flatMap((pair) => ['--policy-token', pair.join('=')]),
        ...(timed ? ['--time-field', 'time'] : []),
        ...['--explain', '-q', 'urls.ndjson'],
      ];
      const expected = await place.run(words);
      expect(expected.code, expected.stderr).toBe(0);
      const asked = request(urls, JSON.stringify(AGENTS), true, 7, {
        uses: named(USES, POLICY_TOKENS),
        ...(timed ? { times } : {}),
      });
      const [whole, shards] = await Promise.all(
        ['h.table', 'shards'].map((table) => answersTo(table, [asked])),
      );
      expect(whole?.facts).toMatchObject({
        signals: true,
        reasons: REASONS,
        useReasons: USE_REASONS,
        answers: ['granted', 'refused', 'unstated', null],
      });
      const found = outcomesOf(whole?.answers[0] as Answer, urls.length, OUTCOMES);
      expect(outcomesOf(shards?.answers[0] as Answer, urls.length, OUTCOMES)).toEqual(found);
      for (const [index, text] of lines(expected.text).entries()) {
        const record = JSON.parse(text);
        const outcomes = found[index] as Outcome[];
        AGENTS.forEach((agent, of) => {
          const { word, reason, line, text } = outcomes[of] as Outcome;
          expect([VERDICTS[word], reason, line, text], record.url).toEqual([
            record.verdicts[agent],
            record.reasons[agent],
            record.rules?.[agent]?.line,
            record.rules?.[agent]?.text,
          ]);
          USES.forEach((use, at) => {
            const name = `${agent} ${use}`;
            const answer = outcomes[AGENTS.length + of * USES.length + at] as Outcome;
            const own = [USE_WORDS[answer.word] || null, answer.reason, answer.line, answer.text];
            const signal = record.signals?.[name];
            expect(own, `${record.url} ${name}`).toEqual([
              ...[record.use[name], record.use_reasons[name], signal?.line, signal?.text],
            ]);
            for (const fact of own.slice(0, 2)) {
              seen.set(String(fact), (seen.get(String(fact)) ?? 0) + 1);
            }
          });
        });
      }
    }
    for (const fact of [...USE_WORDS.slice(0, 3), 'null', ...USE_REASONS, 'invalid-url']) {
      expect(seen.get(fact) ?? 0, fact).toBeGreaterThan(50);
    }
  });

  it('of any size is answered, up to the limit of answers', async () => {
    const url = 'https://h1.example/a';
    const uses = named(['train', 'search', 'input']);
    const most = 65_536 / 4;
    const counts = [0, 1, 2, 3, most];
    const { answers } = await answersTo('h.table', [
      ...counts.flatMap((count) =>
        [false, true].map((explain) =>
          request(new Array(count).fill(url), '["bot"]', explain, 0, { uses }),
        ),
      ),
      request(new Array(most + 1).fill(url), '["bot"]', false, 0, { uses }),
      request([url], '["bot"]', true),
      request([url], '["bot"]', true, 0, { uses }),
    ]);
    const [one] = outcomesOf(answers[3] as Answer, 1, 4);
    for (const [index, count] of counts.entries()) {
      const plain = answers[2 * index] as Answer;
      const words = (one ?? []).flatMap(({ word }) => new Array(count).fill(word));
      expect([plain.kind, plain.content]).toEqual([1, Buffer.from(words)]);
      const explained = outcomesOf(answers[2 * index + 1] as Answer, count, 4);
      expect(new Set(explained.map((row) => JSON.stringify(row))).size).toBe(count === 0 ? 0 : 1);
    }
    const [refused, alone, again] = answers.slice(-3) as [Answer, Answer, Answer];
    expect([refused.kind, refused.content.toString()]).toEqual([
      2,
      '16385 URLs with 4 answers for each are more than 65536 verdicts. Send fewer URLs at a time',
    ]);
    // Clients that do not ask about uses get what they got before.
    expect(outcomesOf(alone, 1, 1)).toEqual([one?.slice(0, 1)]);
    expect(outcomesOf(again, 1, 4)).toEqual([one]);
  });

  it('that is wrong is refused, and the next one answered', async () => {
    const wrong: readonly (readonly [what: string, uses: string, message: string])[] = [
      ['not JSON', '{"uses":', 'no JSON object. Send an object such as {"uses":["train"]'],
      ['nothing', '', 'no JSON object'],
      ['a list', '["train"]', 'no JSON object'],
      ['null', 'null', 'no JSON object'],
      ['another member', '{"uses":["train"],"use":1}', 'the unknown member "use"'],
      ['__proto__', '{"uses":["train"],"__proto__":{}}', 'the unknown member "__proto__"'],
      ['no uses', '{}', '"uses" of a request is no array'],
      ['an empty list', '{"uses":[]}', '"uses" of a request is no array of one text at least'],
      ['a number', '{"uses":[1]}', '"uses" of a request is no array'],
      ['a text', '{"uses":"train"}', '"uses" of a request is no array'],
      ['policy tokens that are none', '{"uses":["train"],"policyTokens":[]}', '"policyTokens"'],
      [
        'a policy token of null',
        '{"uses":["train"],"policyTokens":{"train":null}}',
        '"policyTokens"',
      ],
      ['no key', '{"uses":["a b"]}', 'the use "a b" is no purpose and no key of a signal'],
      ['a use twice', '{"uses":["train","Train"]}', 'the use train is named twice'],
      [
        'an idle policy token',
        named(['train'], { search: 'A' }),
        'has no effect without the use search',
      ],
      ['a wrong policy token', named(['train'], { train: 'a b' }), '"a b" is not a product token'],
      [
        'too many answers',
        named(manyUses.slice(0, 256)),
        '256 uses are 257 answers for each URL, more than 256',
      ],
    ];
    const url = 'https://h1.example/';
    const right = request([url], '["bot"]', false, 0, { uses: named(['train']) });
    const many = JSON.stringify(Array.from({ length: 250 }, (_, n) => `A${'a'.repeat(n)}`));
    const { answers } = await answersTo('h.table', [
      ...wrong.flatMap(([, uses]) => [request([url], '["bot"]', false, 0, { uses }), right]),
      request([url], many, false, 0, { uses: named(manyUses) }),
      right,
    ]);
    expect(answers.map(({ kind }) => kind)).toEqual([...wrong, many].flatMap(() => [2, 1]));
    for (const [index, [what, , message]] of wrong.entries()) {
      expect(answers[2 * index]?.content.toString(), what).toContain(message);
    }
    expect(answers.at(-2)?.content.toString()).toContain(
      '250 agents and 6000 uses are 1500250 answers',
    );
  });

  it('is refused by a table without signals, and for shards', async () => {
    const asked = request(['https://h.example/'], '["*"]', false, 0, { uses: named(['train']) });
    const plain = await answersTo('plain.table', [asked]);
    expect(plain.facts.signals).toBe(false);
    expect(plain.answers[0]?.kind).toBe(2);
    expect(plain.answers[0]?.content.toString()).toBe(
      'the table was compiled without what robots.txt files say about uses. Compile it again with --signals, in a program with { signals: true }',
    );
    const input = Buffer.concat([GREETING, asked]);
    const { stdout } = await place.runAlone('serve --shards 3', input);
    expect(parseOutput(stdout).answers[0]?.content.toString()).toContain('shards have no uses');
  });

  it('is answered by files that serve compiles itself', async () => {
    const asked = request(['https://h1.example/a'], '["*"]', false, 0, { uses: named(['train']) });
    const input = Buffer.concat([GREETING, asked]);
    const { stdout } = await place.runAlone('serve -q --robots-dir robots.ndjson', input);
    expect(parseOutput(stdout).answers[0]?.kind).toBe(1);
  });

  it('warns of uses that no robots.txt speaks of, if that is wanted', async () => {
    const asked = (use: string, flags: number): Buffer =>
      request(['https://h1.example/'], '["*"]', false, 0, { uses: named([use]), flags });
    const { answers } = await answersTo('h.table', [
      asked('train', 2),
      asked('trane', 2),
      asked('trane', 0),
      asked('trane', 2),
    ]);
    expect(answers.map(({ kind }) => kind)).toEqual([1, 3, 1, 1, 3, 1]);
    expect(answers[1]?.content.toString()).toBe(
      'no robots.txt in the table says anything about trane, so each answer is unstated. Keys that they name: ai-input, ai-train, own, search, train-ai',
    );
  });
});
