import { devNull } from 'node:os';
import { join } from 'node:path';
import type { Competitor } from './competitor.js';

/** The libraries that `npm ci` installs with this project. */
export function npmCompetitors(): Competitor[] {
  const script = join(import.meta.dirname, 'javascript', 'main.ts');
  const words = ['--import', 'tsx', script];
  const npm = { program: process.execPath, words, urls: 200_000 };
  return [
    { ...npm, id: 'robots-parser', name: 'robots-parser 3.0.1 (npm)', format: 'text' },
    {
      ...npm,
      id: 'robots-parser-ndjson',
      name: 'readline + JSON.parse + robots-parser 3.0.1',
      format: 'short',
    },
    {
      ...npm,
      id: 'robots-parser-annotated',
      name: 'the same, writing annotated records to /dev/null',
      format: 'short',
      environment: { ANNOTATED_FILE: devNull },
    },
    {
      ...npm,
      id: 'robots-parser-index',
      name: 'readline + JSON.parse + robots-parser, annotated',
      format: 'index',
      environment: { ANNOTATED_FILE: devNull },
    },
    { ...npm, id: 'robots-txt-guard', name: 'robots-txt-guard 1.0.2 (npm)', format: 'text' },
  ];
}
