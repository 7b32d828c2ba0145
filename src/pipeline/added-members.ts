import type { FilterSettings } from './filter.js';

/** Members that an explanation adds. */
const EXPLANATION_MEMBERS = ['reason', 'reasons', 'rule', 'rules'];
/** Members of what is written for a line that is no object, beside the verdict. */
const BAD_LINE_MEMBERS = ['line', 'input'];

/** A member that would stand twice in a record: it is added, and so is, or there is, the other. */
export interface Clash {
  readonly member: string;
  readonly with: 'explanation' | 'bad line' | 'url';
}

/**
 * The first member that would stand twice in records that are written; undefined if there is none.
 *
 * @param addsMembers whether verdicts are added to JSON: not to text, and not where records come out as they came
 */
export function clashOf(
  settings: Pick<FilterSettings, 'urlField' | 'verdictField' | 'explain' | 'strict'>,
  addsMembers: boolean,
): Clash | undefined {
  const { urlField, verdictField, explain, strict } = settings;
  if (explain && verdictField !== undefined && EXPLANATION_MEMBERS.includes(verdictField)) {
    return { member: verdictField, with: 'explanation' };
  }
  if (!addsMembers) return undefined;
  if (!strict && verdictField !== undefined && BAD_LINE_MEMBERS.includes(verdictField)) {
    return { member: verdictField, with: 'bad line' };
  }
  const [member = ''] = urlField;
  const added = verdictField === undefined ? ['verdict', 'verdicts'] : [verdictField];
  if (explain) added.push(...EXPLANATION_MEMBERS);
  return added.includes(member) ? { member, with: 'url' } : undefined;
}
