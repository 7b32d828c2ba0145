import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  EXAMPLE_PAGE,
  EXAMPLE_PICTURE,
  exampleHosts,
  isPictureOf,
  makeExample,
  pictureOf,
} from '../../build/example-page.js';
import type { AuditFigures } from '../../src/cli/report/audit-figures.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const REMEDY = 'Type: npm run build && npm run docs:example';
const EMBEDDED = /id="figures">(.*)<\/script>/;

const page = readFileSync(join(ROOT, EXAMPLE_PAGE), 'utf8');

test('the example of a report is what the program makes, and its picture shows it', () => {
  expect(page === makeExample(), REMEDY).toBe(true);
  expect(page.length).toBeLessThan(90_000);
  const picture = readFileSync(join(ROOT, EXAMPLE_PICTURE));
  expect(isPictureOf(picture, page), REMEDY).toBe(true);
  expect(isPictureOf(picture, `${page} `)).toBe(false);
  expect(picture.length).toBeLessThanOrEqual(60_000);
});

test('its main figure is that of an independent count', () => {
  const records = exampleHosts().trimEnd().split('\n');
  const robots = records.map((line) => JSON.parse(line).robots as string | undefined);
  // Here a group that names GPTBot comes first, and forbids everything.
  const forbids = (text = '') => /^(# .*\n)?User-agent: (GPTBot|\*\nDisallow: \/\n)/.test(text);
  const shutOut = robots.filter(forbids).length;
  expect(shutOut).toBeGreaterThan(20);
  const { hosts, agents } = JSON.parse(EMBEDDED.exec(page)?.[1] ?? '') as AuditFigures;
  const main = agents.find(({ agent }) => agent === 'GPTBot');
  expect([hosts, main?.hosts.none]).toEqual([records.length, shutOut]);
  expect(/<h1>.*<\/h1>/.exec(page)?.[0], 'the picture in the README is described').toContain(
    'GPTBot',
  );
  expect(records.every((line) => JSON.parse(line).host.endsWith('.example'))).toBe(true);
});

test('a picture keeps the most frequent colours', () => {
  const width = 300;
  // Each of 300 shades once, and 300 white pixels.
  const shades = Array.from({ length: width }, (_, i) => [i % 256, i >> 8, 0, 255]);
  const white = Array.from({ length: width }, () => [255, 255, 255, 255]);
  const bytes = Uint8Array.from([...white, ...shades].flat());
  const png = pictureOf({ width, height: 2, bytes }, 'page');
  expect([png.readUInt32BE(16), png.readUInt32BE(20), png[25]]).toEqual([width, 2, 3]);
  const at = png.indexOf('PLTE');
  const first = [...png.subarray(at + 4, at + 7)];
  expect([png.readUInt32BE(at - 4), first]).toEqual([768, [255, 255, 255]]);
  expect([isPictureOf(png, 'page'), isPictureOf(png, 'other')]).toEqual([true, false]);
});
