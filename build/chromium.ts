import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Starts the Chromium of this machine, or the one that the variable CHROMIUM names. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? PATHS.find((path) => existsSync(path));
  if (executablePath === undefined) {
    throw new Error(
      'There is no Chromium. Install it (Debian: apt-get install chromium), or set CHROMIUM to its path',
    );
  }
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-quic', '--disable-lcd-text'],
  });
}
