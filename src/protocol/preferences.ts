import type { KeptRecord } from './other-record-kinds.js';
import { parseContentSignal, parseContentUsage } from './record-values.js';
import { recipients } from './records-for.js';

/**
 * What a robots.txt says about the use of content: see docs/preferences.md. A preference that is
 * missing is unknown.
 */
export interface Preferences {
  /** Of the `Content-Usage` records: for each category, whether its use is wished. */
  readonly contentUsage: Readonly<Record<string, 'y' | 'n'>>;
  /** Of the `Content-Signal` records: keys and values in lower case. */
  readonly contentSignal: Readonly<Record<string, string>>;
  /** The values of the `License` records, as written. */
  readonly license: readonly string[];
}

/** Finds the path pattern that is most specific for a URL; returns its index. */
export type MostSpecific = (paths: readonly string[]) => number | undefined;

/**
 * The preferences for an agent whose groups are those of these product tokens. Of the
 * `Content-Usage` records those with the longest path that matches count, as for rules
 * (draft-ietf-aipref-attach). If several have this path, `n` wins.
 */
export function preferencesFor(
  records: readonly KeptRecord[],
  tokens: readonly string[],
  mostSpecific: MostSpecific,
): Preferences {
  const own = records.filter(recipients(tokens));
  const usages = own
    .filter(({ kind }) => kind === 'content-usage')
    .flatMap(({ value }) => parseContentUsage(value) ?? []);
  const paths = usages.map(({ path = '/' }) => path);
  const best = usages.length === 0 ? undefined : mostSpecific(paths);
  const contentUsage: Record<string, 'y' | 'n'> = Object.create(null);
  for (const [index, { preferences }] of usages.entries()) {
    if (best === undefined || paths[index] !== paths[best]) continue;
    for (const [key, value] of Object.entries(preferences)) {
      if (contentUsage[key] !== 'n') contentUsage[key] = value;
    }
  }
  const signals = own
    .filter(({ kind }) => kind === 'content-signal')
    .map(({ value }) => parseContentSignal(value));
  return {
    contentUsage,
    contentSignal: Object.assign(Object.create(null), ...signals),
    license: records.filter(({ kind }) => kind === 'license').map(({ value }) => value),
  };
}
