/** The page of a report: it renders the figures that it embeds, whatever they are about. */

import { printableJson } from '../../base/control-characters.js';
import type { AuditFigures } from './audit-figures.js';
import { auditStory } from './audit-story.js';
import type { DiffFigures } from './diff-figures.js';
import { diffStory } from './diff-story.js';
import type { FilterFigures } from './filter-figures.js';
import { filterStory } from './filter-story.js';
import type { HistoryFigures } from './history-figures.js';
import { historyStory } from './history-story.js';
import { pageOf, type Story } from './page-parts.js';

/** The figures of a report. */
export type ReportFigures = AuditFigures | HistoryFigures | DiffFigures | FilterFigures;

/** A report as one page of HTML. Nothing is shown that does not follow from the JSON in it. */
export function reportPage(figures: ReportFigures): string {
  const json = printableJson(figures);
  return pageOf(storyOf(JSON.parse(json) as ReportFigures), json);
}

function storyOf(figures: ReportFigures): Story {
  switch (figures.schema) {
    case 'robots-filter/audit/2':
      return auditStory(figures);
    case 'robots-filter/history/1':
      return historyStory(figures);
    case 'robots-filter/diff/2':
      return diffStory(figures);
    case 'robots-filter/filter/2':
      return filterStory(figures);
  }
}
