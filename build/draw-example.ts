/** Makes the example of a report and its picture: `npm run docs:example`, after `npm run build`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { launchChromium } from './chromium.js';
import {
  EXAMPLE_PAGE,
  EXAMPLE_PICTURE,
  makeExample,
  type Pixels,
  pictureOf,
} from './example-page.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WINDOW = { width: 880, height: 800 };
/** Rows of the first chart that the picture shows. */
const ROWS = 4;

const page = makeExample();
writeFileSync(join(ROOT, EXAMPLE_PAGE), page);
console.log(EXAMPLE_PAGE);

const browser = await launchChromium();
try {
  const tab = await browser.newPage({ viewport: WINDOW, colorScheme: 'light' });
  await tab.goto(pathToFileURL(join(ROOT, EXAMPLE_PAGE)).href);
  const row = await tab
    .locator('.row')
    .nth(ROWS - 1)
    .boundingBox();
  if (row === null) throw new Error(`The first chart has fewer than ${ROWS} rows`);
  const clip = { x: 0, y: 0, width: WINDOW.width, height: Math.floor(row.y + row.height) };
  const png = await tab.screenshot({ clip, fullPage: true });
  const pixels = await pixelsOf(await browser.newPage(), png);
  writeFileSync(join(ROOT, EXAMPLE_PICTURE), pictureOf(pixels, page));
  console.log(EXAMPLE_PICTURE);
} finally {
  await browser.close();
}

/** Has the browser decode a PNG. Pixels come as base64: a list of numbers takes half a minute. */
async function pixelsOf(tab: Page, png: Buffer): Promise<Pixels> {
  const { width, height, url } = await tab.evaluate<{ width: number; height: number; url: string }>(
    `(async () => {
      const image = new Image();
      image.src = 'data:image/png;base64,${png.toString('base64')}';
      await image.decode();
      const { width, height } = image;
      const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
      context.drawImage(image, 0, 0);
      const reader = new FileReader();
      reader.readAsDataURL(new Blob([context.getImageData(0, 0, width, height).data]));
      await new Promise((resolve) => reader.addEventListener('load', resolve));
      return { width, height, url: reader.result };
    })()`,
  );
  return { width, height, bytes: Buffer.from(url.slice(url.indexOf(',') + 1), 'base64') };
}
