import { readFileSync } from 'node:fs';
import { entryFile } from './entry-file.js';

/**
 * The program of the threads that judge, as CommonJS. In the build for bundlers another module
 * takes the place of this one, and holds the text: see rolldown.config.ts.
 */
export function judgeSource(): string {
  return readFileSync(entryFile('judge'), 'utf8');
}
