import { CONVERTED_URL } from '../kernel/query-settings.js';
import type { FilterSettings } from './filter.js';
import type { InputFormat } from './input/format.js';
import { conversionOf } from './output/conversion.js';
import { PREFERENCES_MEMBER } from './output/preference-columns.js';

/** Members that `--explain` adds. */
const EXPLANATION_MEMBERS = ['reason', 'reasons', 'rule', 'rules'];
/** Members that stand beside the verdict in the output for a record that is not an object. */
const BAD_RECORD_MEMBERS = {
  text: [],
  csv: [],
  tsv: [],
  ndjson: ['line', 'input'],
  json: ['record', 'input'],
  parquet: ['row', 'input'],
  auto: ['line', 'record', 'row', 'input'],
} as const satisfies Record<InputFormat | 'auto', readonly string[]>;

/** A member that would appear twice in an output record. */
export interface MemberConflict {
  readonly member: string;
  /** The other source of a member with this name. */
  readonly with: 'explanation' | 'preferences' | 'bad line' | 'url';
}

/**
 * The first member that would appear twice in an output record; `undefined` if none would.
 *
 * @param format the format of the input; `undefined` if records come out unchanged
 */
export function memberConflict(
  settings: Pick<
    FilterSettings,
    'urlField' | 'verdictField' | 'explain' | 'strict' | 'outputFormat'
  > & { readonly hasPreferences?: boolean },
  format: InputFormat | 'auto' | undefined,
): MemberConflict | undefined {
  const { urlField, verdictField, explain, strict, outputFormat } = settings;
  const { hasPreferences = false } = settings;
  if (hasPreferences && verdictField === PREFERENCES_MEMBER) {
    return { member: verdictField, with: 'preferences' };
  }
  if (explain && verdictField !== undefined && EXPLANATION_MEMBERS.includes(verdictField)) {
    return { member: verdictField, with: 'explanation' };
  }
  if (format === undefined) return undefined;
  if (outputFormat !== undefined && outputFormat !== 'text' && verdictField === CONVERTED_URL) {
    return { member: verdictField, with: 'url' };
  }
  const converts = format !== 'auto' && conversionOf(format, outputFormat) !== undefined;
  if (converts || format === 'text' || format === 'csv' || format === 'tsv') return undefined;
  const added: readonly string[] = BAD_RECORD_MEMBERS[format];
  if (!strict && verdictField !== undefined && added.includes(verdictField)) {
    return { member: verdictField, with: 'bad line' };
  }
  const [first = ''] = urlField;
  // A flat column of Parquet may have the whole path as its name.
  const own = format === 'parquet' || format === 'auto' ? [first, urlField.join('.')] : [first];
  const verdicts = verdictField === undefined ? ['verdict', 'verdicts'] : [verdictField];
  const members = [
    ...verdicts,
    ...(explain ? EXPLANATION_MEMBERS : []),
    ...(hasPreferences ? [PREFERENCES_MEMBER] : []),
  ];
  const member = own.find((name) => members.includes(name));
  return member === undefined ? undefined : { member, with: 'url' };
}
