import type { FilterSettings } from './filter.js';
import type { InputFormat } from './input/format.js';

/** Members that an explanation adds. */
const EXPLANATION_MEMBERS = ['reason', 'reasons', 'rule', 'rules'];
/**
 * Members of what is written for a record that is no object, beside the verdict: NDJSON counts
 * lines, JSON records.
 */
const BAD_RECORD_MEMBERS = {
  text: [],
  ndjson: ['line', 'input'],
  json: ['record', 'input'],
  auto: ['line', 'record', 'input'],
} as const satisfies Record<InputFormat | 'auto', readonly string[]>;

/** A member that would stand twice in a record: it is added, and so is, or there is, the other. */
export interface Clash {
  readonly member: string;
  readonly with: 'explanation' | 'bad line' | 'url';
}

/**
 * The first member that would stand twice in records that are written; undefined if there is none.
 *
 * @param format what comes in; undefined where records come out as they came
 */
export function clashOf(
  settings: Pick<FilterSettings, 'urlField' | 'verdictField' | 'explain' | 'strict'>,
  format: InputFormat | 'auto' | undefined,
): Clash | undefined {
  const { urlField, verdictField, explain, strict } = settings;
  if (explain && verdictField !== undefined && EXPLANATION_MEMBERS.includes(verdictField)) {
    return { member: verdictField, with: 'explanation' };
  }
  if (format === undefined || format === 'text') return undefined;
  const added: readonly string[] = BAD_RECORD_MEMBERS[format];
  if (!strict && verdictField !== undefined && added.includes(verdictField)) {
    return { member: verdictField, with: 'bad line' };
  }
  const [member = ''] = urlField;
  const verdicts = verdictField === undefined ? ['verdict', 'verdicts'] : [verdictField];
  const members = explain ? [...verdicts, ...EXPLANATION_MEMBERS] : verdicts;
  return members.includes(member) ? { member, with: 'url' } : undefined;
}
