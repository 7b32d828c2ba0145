import type { CacheWarning } from '../../cache/entry.js';
import { type CrowdedHost, MAX_HOST_AUTHORITIES } from '../../compile/layout/host-records.js';
import type { TableLayout } from '../../compile/layout/table-layout.js';
import type { TableContents } from '../../compile/table-contents.js';
import { MESSAGES } from '../../protocol/warnings.js';

/** Warnings that only compiling finds: of files over their budget, and of crowded hosts. */
export function compileWarnings(contents: TableContents, layout: TableLayout): CacheWarning[] {
  const overBudget = contents
    .sourcesOf('over-budget')
    .map((path): CacheWarning => ({ code: 'over-budget', path, message: MESSAGES['over-budget'] }));
  return [...overBudget, ...layout.crowdedHosts.map(crowded)];
}

function crowded({ host, authorities }: CrowdedHost): CacheWarning {
  const rest = authorities - MAX_HOST_AUTHORITIES;
  return {
    code: 'too-many-authorities',
    path: host,
    message: `${authorities} authorities, more than the limit of ${MAX_HOST_AUTHORITIES}; ${rest} at the highest ports skipped. Leave out ports that you do not need.`,
  };
}
