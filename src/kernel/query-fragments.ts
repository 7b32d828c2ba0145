import type { Agent } from '../protocol/agent.js';
import { REASONS, VERDICTS } from '../protocol/verdict.js';
import {
  FRAGMENT_AGENT,
  FRAGMENT_ALLOW,
  FRAGMENT_BAD_END,
  FRAGMENT_BAD_INPUT,
  FRAGMENT_BAD_LINE,
  FRAGMENT_DISALLOW,
  FRAGMENT_LINE,
  FRAGMENT_MASK_ALLOWED,
  FRAGMENT_MASK_DENIED,
  FRAGMENT_REASON,
  FRAGMENT_REASONS,
  FRAGMENT_REASONS_OPEN,
  FRAGMENT_RULE,
  FRAGMENT_RULES_OPEN,
  FRAGMENT_SHARD_END,
  FRAGMENT_SOURCE,
  FRAGMENT_STRING_CLOSE,
  FRAGMENT_STRING_OPEN,
  FRAGMENT_TEXT,
  FRAGMENTS,
} from './layout.js';
import {
  CONVERTED_URL,
  conversionOf,
  type LineFormat,
  type QuerySettings,
} from './query-settings.js';

/** The member with the number of a record that is not an object; text and rows have none. */
const BAD_LINE_MEMBERS: Record<LineFormat, string> = {
  text: ',"line":',
  ndjson: ',"line":',
  json: ',"record":',
  csv: ',"row":',
  tsv: ',"row":',
  parquet: ',"row":',
  offsets: ',"row":',
};

/** A text as the inside of a JSON string, safe on a terminal. */
export function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\u007f', '\\u007f');
}

/** The text that an agent's verdicts add to a record, by verdict: see AGENT_VERDICTS. */
export function verdictFragments(settings: QuerySettings, index: number): string[] {
  const { agents, verdictField } = settings;
  const format = conversionOf(settings) ?? settings.format;
  if (settings.addsShard === true) return shardFragments(settings, format);
  const isLast = index === agents.length - 1;
  if (settings.output === 'verdicts') {
    return VERDICTS.map((verdict) => `${verdict}${isLast ? '' : ','}`);
  }
  if (format === 'csv') return VERDICTS.map((verdict) => `,${verdict}`);
  if (format === 'tsv') return VERDICTS.map((verdict) => `\t${verdict}`);
  if (format === 'text') return VERDICTS.map((verdict) => `${verdict}${isLast ? '\t' : ','}`);
  const several = agents.length > 1;
  const field = `"${inString(verdictField ?? (several ? 'verdicts' : 'verdict'))}":`;
  if (!several) return VERDICTS.map((verdict) => `${field}"${verdict}"`);
  const name = inString((agents[index] as Agent).name);
  const before = `${index === 0 ? `${field}{` : ','}"${name}":`;
  return VERDICTS.map((verdict) => `${before}"${verdict}"${isLast ? '}' : ''}`);
}

/** The text before the number of the shard, by verdict; for `invalid` the text in its place. */
function shardFragments({ verdictField = 'shard' }: QuerySettings, format: string): string[] {
  const starts: Readonly<Record<string, readonly [before: string, invalid: string]>> = {
    text: ['', '\t'],
    csv: [',', ','],
    tsv: ['\t', '\t'],
  };
  const field = `"${inString(verdictField)}":`;
  const [before, invalid] = starts[format] ?? [field, `${field}null`];
  return VERDICTS.map((verdict) => (verdict === 'invalid' ? invalid : before));
}

/** The other words of the members, in the order of the FRAGMENT_ constants. */
export function fragments(settings: QuerySettings): string[] {
  const words = new Array<string>(FRAGMENTS).fill('');
  REASONS.forEach((reason, index) => {
    words[FRAGMENT_REASONS + index] = reason;
  });
  words[FRAGMENT_REASONS_OPEN] = '"reasons":{';
  words[FRAGMENT_RULES_OPEN] = '"rules":{';
  words[FRAGMENT_LINE] = '{"line":';
  words[FRAGMENT_TEXT] = ',"text":"';
  words[FRAGMENT_AGENT] = ',"agent":"';
  words[FRAGMENT_SOURCE] = ',"source":"';
  words[FRAGMENT_RULE] = '"rule":';
  words[FRAGMENT_REASON] = '"reason":';
  words[FRAGMENT_DISALLOW] = 'Disallow: ';
  words[FRAGMENT_ALLOW] = 'Allow: ';
  words[FRAGMENT_BAD_LINE] = BAD_LINE_MEMBERS[settings.format];
  words[FRAGMENT_BAD_INPUT] = ',"input":"';
  words[FRAGMENT_BAD_END] = '"}';
  const keys = settings.conversion === undefined ? settings.urlField : [CONVERTED_URL];
  words[FRAGMENT_STRING_OPEN] = keys.map((key) => `{"${inString(key)}":`).join('');
  words[FRAGMENT_STRING_CLOSE] = '}'.repeat(keys.length - 1);
  words[FRAGMENT_MASK_ALLOWED] = '{"allowed":true}';
  words[FRAGMENT_MASK_DENIED] = '{"allowed":false}';
  words[FRAGMENT_SHARD_END] = (conversionOf(settings) ?? settings.format) === 'text' ? '\t' : '';
  return words;
}
