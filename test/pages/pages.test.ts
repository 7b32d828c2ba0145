import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../build/chromium.js';
import { Random } from '../random/random.js';

const PROGRAM = fileURLToPath(new URL('../../dist/cjs/main.cjs', import.meta.url));

const place = mkdtempSync(join(tmpdir(), 'robots-filter-pages-'));
const at = (name: string): string => join(place, name);

const PAGES = ['filter.html', 'audit.html', 'diff.html', 'urls.html', 'history.html'];
const SCREENS = [
  { device: 'telephone', width: 390, colorScheme: 'light' },
  { device: 'desktop', width: 1280, colorScheme: 'dark' },
] as const;

/** More agents than a grid has with level headings. */
const AGENTS = `GPTBot,ClaudeBot,${Array.from('ABCDEFGHIJ', (letter) => `Crawler${letter}`)}`;

/** Long names and paths, markup and many agents: whatever could make a page too wide or unsafe. */
function robots(random: Random): string {
  const path = random.pick([
    '/',
    '/a',
    '/<script>alert(1)</script>',
    `/${'long/'.repeat(60)}`,
    '/*?q=',
  ]);
  const records = random.pick(['Crawl-delay: 5\n', 'Content-Signal: ai-train=no\n', '']);
  const agent = random.pick(['*', 'GPTBot', 'ClaudeBot']);
  return `User-agent: ${agent}\n${records}Disallow: ${path}\nSitemap: https://a.example/s.xml\n`;
}

function write(name: string, seed: number): void {
  const random = new Random(seed);
  const records = Array.from({ length: 80 }, (_, index) => {
    const host = index % 9 === 0 ? `${'long-'.repeat(11)}${index}.example` : `h${index}.example`;
    return random.chance(0.1) ? { host, status: 503 } : { host, robots: robots(random) };
  });
  writeFileSync(at(name), `${records.map((record) => JSON.stringify(record)).join('\n')}\n`);
}

function run(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], {
    cwd: place,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
  return stdout;
}

let browser: Browser;
beforeAll(async () => {
  write('old.ndjson', 1);
  write('new.ndjson', 2);
  const dated = ['old', 'new'].flatMap((side, year) =>
    readFileSync(at(`${side}.ndjson`), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line, day) => {
        const fetched = `202${4 + year}-0${1 + (day % 9)}-10`;
        return JSON.stringify({ ...JSON.parse(line), fetched });
      }),
  );
  writeFileSync(at('dated.ndjson'), `${dated.join('\n')}\n`);
  const paths = ['a', 'long/long/', '<b>&"', 'robots.txt', 'z?q=1'];
  const urls = Array.from({ length: 300 }, (_, i) => `https://h${i % 97}.example/${paths[i % 5]}`);
  writeFileSync(at('urls.txt'), `${urls.join('\n')}\n`);
  const agents = ['-a', AGENTS, '-q'];
  run(
    '--robots-dir',
    'new.ndjson',
    ...agents,
    'urls.txt',
    '-o',
    'v.txt',
    '--report',
    'filter.html',
  );
  run('audit', '--robots-dir', 'new.ndjson', ...agents, '--report', 'audit.html');
  const sides = ['diff', 'old.ndjson', 'new.ndjson', ...agents];
  run(...sides, '--report', 'diff.html');
  run(...sides, '--urls', 'urls.txt', '--report', 'urls.html');
  const through = ['audit', '--history', '--robots-dir', 'dated.ndjson', ...agents];
  run(...through, '--report', 'history.html');
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(place, { recursive: true, force: true });
});

/** Opens a page in a context of its own, and fails on a request or a message of the browser. */
async function open(name: string, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const url = pathToFileURL(at(name)).href;
  page.on('request', (request) => expect(request.url()).toBe(url));
  page.on('console', (message) => expect(message.text()).toBe(''));
  page.on('pageerror', (error) => expect(error.message).toBe(''));
  await page.goto(url);
  return page;
}

/** The width of a page in pixels, the elements that load or run something, and its background. */
const measure = (page: Page): Promise<{ width: number; active: number; background: string }> =>
  page.evaluate(`({
    width: document.documentElement.scrollWidth,
    active: document.querySelectorAll('script:not([type="application/json"]), iframe, link, img').length,
    background: getComputedStyle(document.body).backgroundColor,
  })`);

const LIGHT = 'rgb(255, 253, 249)';
const WHITE = 'rgb(255, 255, 255)';

describe.each(PAGES)('%s', (name) => {
  it.each(SCREENS)('is accessible and fits: $device, $colorScheme', async (screen) => {
    const { width, colorScheme } = screen;
    const viewport = { width, height: 800 };
    const page = await open(name, { viewport, colorScheme, bypassCSP: true });
    const measured = await measure(page);
    expect(measured.width).toBeLessThanOrEqual(width);
    expect(measured.active).toBe(0);
    expect(measured.background === LIGHT).toBe(colorScheme === 'light');
    // A page without frames needs no second one in which axe joins what it found in each.
    const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
    const { violations, passes } = await axe.analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
    expect(passes.length).toBeGreaterThan(10);
    await page.context().close();
  });

  it('says the same without JavaScript', async () => {
    const texts: string[] = [];
    for (const javaScriptEnabled of [true, false]) {
      const page = await open(name, { javaScriptEnabled });
      texts.push(await page.locator('body').innerText());
      await page.context().close();
    }
    expect(texts[0]?.length).toBeGreaterThan(1_000);
    expect(texts[1]).toBe(texts[0]);
  });

  it('is light on paper, and no wider than it', async () => {
    // A4 between margins of 1 cm, in CSS pixels.
    const viewport = { width: 718, height: 1_000 };
    const page = await open(name, { viewport, colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const measured = await measure(page);
    expect(measured.background).toBe(WHITE);
    expect(measured.width).toBeLessThanOrEqual(viewport.width);
    const pdf = await page.pdf({ format: 'A4', margin: { left: '1cm', right: '1cm' } });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    await page.context().close();
  });
});
