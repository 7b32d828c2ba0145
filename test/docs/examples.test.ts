import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Block, fencedBlocks, printedBy, type Step, stepsOf } from './blocks.js';
import { ROOT, Scratch } from './scratch.js';

/** Blocks that cannot be run, all of them marked with the reason. */
const MOST_NOT_RUN = 12;
/**
 * Languages of blocks that are not run here: file contents, drawings, and Python, whose blocks
 * python/tests/test_docs.py runs.
 */
const SHOWN = ['text', 'json', 'robots', 'yaml', 'python', 'mermaid'];

/** The blocks after this heading are modules of their own; the others of a page are one module. */
const COOKBOOK = '\n## Cookbook\n';

const documents = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].map((path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const [before = '', cookbook] = text.split(COOKBOOK);
  const firstPiece = cookbook === undefined ? Number.POSITIVE_INFINITY : before.split('\n').length;
  return { path, blocks: fencedBlocks(text), isPiece: ({ line }: Block) => line > firstPiece };
});

const scratches: Scratch[] = [];
afterAll(() => {
  for (const scratch of scratches) scratch.remove();
});

function newScratch(): Scratch {
  const scratch = new Scratch();
  scratches.push(scratch);
  return scratch;
}

/** Only the durations may differ. */
function withoutTimes(text: string): string {
  return text.replaceAll(/\b\d[\d,]*\.\d\d s\b/g, '0.00 s');
}

async function runSteps(scratch: Scratch, steps: readonly Step[]): Promise<void> {
  const outputs = await scratch.shell(steps.map(({ command }) => command));
  expect(
    steps.map(({ command }, index) => ({ command, output: withoutTimes(outputs[index] ?? '') })),
  ).toEqual(steps.map(({ command, output }) => ({ command, output: withoutTimes(output) })));
}

function run(blocks: readonly Block[], language: string): Block[] {
  return blocks.filter((block) => block.notRun === undefined && block.language === language);
}

describe.concurrent.each(documents)('$path', ({ path, blocks, isPiece }) => {
  it('has only blocks that are run, marked as not run, or have nothing to run', () => {
    const unknown = blocks.filter(
      ({ language, notRun }) =>
        !['console', 'js', ...SHOWN].includes(language) && notRun === undefined,
    );
    expect(unknown.map(({ line, language }) => `${path}:${line} ${language}`)).toEqual([]);
  });

  it('shows the output that its commands print', async () => {
    const scratch = newScratch();
    await runSteps(scratch, run(blocks, 'console').flatMap(stepsOf));
    const modules = run(blocks, 'js');
    const [page, pieces] = [modules.filter((block) => !isPiece(block)), modules.filter(isPiece)];
    const lists = [page, ...pieces.map((piece) => [piece])];
    const printed = await scratch.modules(lists.map((list) => list.map(({ text }) => text)));
    expect(printed).toEqual(modules.map(printedBy));
  });
});

describe('the README', () => {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');

  it('shows an example before the picture', () => {
    const example = text.indexOf('```text');
    expect(example).toBeGreaterThan(0);
    expect(text.indexOf('![')).toBeGreaterThan(example);
  });

  it('has the commands for the setup and the tests in its first part', () => {
    const top = fencedBlocks(text).filter(({ line }) => line < 50);
    const commands = top.filter(({ language }) => language === 'sh').map((block) => block.text);
    expect(commands[0]?.startsWith('npm ci && ')).toBe(true);
    expect(commands[1]).toBe('npm test');
  });
});

describe('the examples', () => {
  it('are many, and nearly all of them are run', () => {
    const blocks = documents.flatMap((document) => document.blocks);
    expect(run(blocks, 'console').flatMap(stepsOf).length).toBeGreaterThan(50);
    expect(run(blocks, 'js').length).toBeGreaterThan(5);
    expect(blocks.filter(({ notRun }) => notRun !== undefined).length).toBeLessThanOrEqual(
      MOST_NOT_RUN,
    );
  });

  it('begin with a command whose output the README shows below it', async () => {
    const [first, shown] = documents[0]?.blocks ?? [];
    const [setUp = '', command = ''] = first?.text.split(' && npx ') ?? [];
    expect([setUp, shown?.language]).toEqual(['npm ci && npm run build', 'text']);
    await runSteps(newScratch(), [{ command, output: shown?.text ?? '' }]);
  });
});
