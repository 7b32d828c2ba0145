/** Makes the example of a report and its picture: `npm run docs:example`, after `npm run build`. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launchChromium } from './chromium.js';
import { EXAMPLE_PAGE, EXAMPLE_PICTURE, makeExample, signedPicture } from './example-page.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WINDOW = { width: 1040, height: 690 };

writeFileSync(join(ROOT, EXAMPLE_PAGE), makeExample());
console.log(EXAMPLE_PAGE);

const browser = await launchChromium();
try {
  const tab = await browser.newPage({ viewport: WINDOW, colorScheme: 'light' });
  await tab.goto(pathToFileURL(join(ROOT, EXAMPLE_PAGE)).href);
  const page = readFileSync(join(ROOT, EXAMPLE_PAGE), 'utf8');
  writeFileSync(join(ROOT, EXAMPLE_PICTURE), signedPicture(await tab.screenshot(), page));
  console.log(EXAMPLE_PICTURE);
} finally {
  await browser.close();
}
