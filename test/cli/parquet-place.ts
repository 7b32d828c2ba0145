import { readFileSync } from 'node:fs';
import { FIXTURES, fixturePath } from '../parquet/parquet-fixtures.js';
import { Workplace } from './command-line.js';

/** A workplace with the fixtures, and robots.txt files for two of their hosts. */
export function parquetPlace(): Workplace {
  const place = new Workplace();
  place.write('robots/shop.example', 'User-agent: *\nDisallow: /cart/\nAllow: /cart/help\n');
  place.write('robots/blog.example', 'User-agent: GPTBot\nDisallow: /essays/\n');
  for (const name of FIXTURES) {
    place.write(`${name}.parquet`, readFileSync(fixturePath(`${name}.parquet`)));
  }
  return place;
}

/** The verdicts of the fixtures' URLs for GPTBot. */
export const VERDICTS = [
  'allow',
  'deny',
  'invalid',
  'allow',
  'deny',
  'allow',
  'deny',
  'deny',
  'invalid',
  'allow',
  'unknown',
  'deny',
  'invalid',
];
