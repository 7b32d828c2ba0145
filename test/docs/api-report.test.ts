import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { API_REPORT, publicApi } from '../../build/public-api.js';
import { ROOT } from './scratch.js';

const lines = (text: string): string[] => text.split('\n');

describe('the public API', () => {
  const committed = readFileSync(join(ROOT, API_REPORT), 'utf8');
  const built = publicApi();

  it('is what the report says', () => {
    const added = lines(built).filter((line) => !lines(committed).includes(line));
    const gone = lines(committed).filter((line) => !lines(built).includes(line));
    const remedy = `The public API is not what ${API_REPORT} says. If that is on purpose: npm run api:report, and add it to CHANGELOG.md`;
    expect({ added, gone }, remedy).toEqual({ added: [], gone: [] });
    expect(built === committed, remedy).toBe(true);
  });

  it('has its classes, functions and entry points in the report', () => {
    for (const part of [
      '\n== robots-filter\n',
      '\n== robots-filter/robots-parser\n',
      '\ndeclare class Table {\n',
      '\n  static open(path: string, options?: TableOpenOptions): Promise<Table>;\n',
      '\ndeclare function robotsParser(',
      '\nexport = robotsParser;\n',
    ]) {
      expect(committed).toContain(part);
    }
    expect(committed).not.toMatch(/\/\*|@throws/);
  });
});
