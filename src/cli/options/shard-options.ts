import { InvalidArgumentError, type Option } from 'commander';
import { MAX_SHARDS } from '../../table/shard-of.js';
import type { PartRange } from '../../table-memory.js';
import { describedOption } from './described-option.js';
import { OUTPUT_GROUP, ROBOTS_GROUP } from './option-groups.js';
import { nonEmpty, once, wholeNumber } from './option-values.js';

export const shardsOption = (): Option =>
  describedOption(
    '--shards <n>',
    'Divide the table by host into this many shards.',
    `1 to ${MAX_SHARDS}. -o names a directory: part-00000.table and so on, and manifest.json. Memory is needed for one shard for each thread, and disk for the robots.txt files once more. --table takes the directory.`,
    '    robots-filter compile --robots-dir robots/ --shards 64 -o table/',
  )
    .argParser(wholeNumber(1, MAX_SHARDS))
    .helpGroup(OUTPUT_GROUP);

export const onlyOption = (): Option =>
  describedOption(
    '--only <shard>',
    'Write only this shard of --shards, or only the manifest.',
    'The number of a shard, from 0, writes its table into the directory, which may be there already. "manifest" reads no robots.txt: it writes manifest.json for tables that are all there. So several machines can compile one table.',
    '    robots-filter compile --robots-dir all.ndjson --shards 64 --only 7 -o table/',
  )
    .argParser((text) => (text === 'manifest' ? text : wholeNumber(0, MAX_SHARDS - 1)(text)))
    .helpGroup(OUTPUT_GROUP);

export const targetsOption = (): Option =>
  describedOption(
    '--targets <file>',
    'Print only the captures of the URLs in this file, none of robots.txt files.',
    'One canonical URL in each line, such as those that redirects lead to, and that are "left-out" without this option.',
  )
    .argParser(once)
    .helpGroup(ROBOTS_GROUP);

export const servedShardsOption = (): Option =>
  describedOption(
    '--shards <n>',
    'Answer the shard of each host, of this many, and no verdicts.',
    `1 to ${MAX_SHARDS}. No table is needed.`,
  )
    .argParser(wholeNumber(1, MAX_SHARDS))
    .helpGroup(OUTPUT_GROUP);

export const servedPartsOption = (): Option =>
  describedOption(
    '--parts <first-last>',
    'Open only these shards of a table in shards.',
    'Two numbers from 0, such as 0-15. Do not ask about URLs of hosts in other shards: their verdicts would be unknown.',
  )
    .argParser(partRange)
    .helpGroup(ROBOTS_GROUP);

function partRange(text: string): PartRange {
  const [first = '', last = first, ...more] = text.split('-');
  const number = wholeNumber(0, MAX_SHARDS - 1);
  const range = { first: number(first), last: number(last) };
  if (more.length === 0 && range.first <= range.last) return range;
  throw new InvalidArgumentError('Give the first and the last shard, such as 0-15.');
}

export const ofOption = (): Option =>
  describedOption(
    '--of <n>',
    'Divide hosts into this many shards. Required.',
    `1 to ${MAX_SHARDS}: the number that "robots-filter compile --shards" was given.`,
  )
    .argParser(wholeNumber(1, MAX_SHARDS))
    .helpGroup(OUTPUT_GROUP);

export const shardFieldOption = (): Option =>
  describedOption(
    '--field <name>',
    'Give the added JSON member or column this name.',
    'Default: shard.',
  )
    .argParser(nonEmpty)
    .default('shard')
    .helpGroup(OUTPUT_GROUP);
