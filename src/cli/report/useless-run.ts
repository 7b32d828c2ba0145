import type { Tally } from '../../pipeline/tally.js';
import type { Reason } from '../../protocol/verdict.js';
import { formatNumber, formatPercent } from './numbers.js';
import { countsOf } from './statistics.js';

/** Number of records up to which there is no warning: people look at such a trial themselves. */
const FEW_RECORDS = 1_000;
/** Share of undecided records above which something is likely wrong. */
const USUAL_SHARE = 0.95;

/** The circumstances of a run, from which the likely cause follows. */
export interface Circumstances {
  /** Number of hosts in the table. */
  readonly hosts: number;
  /** `--table FILE` or `--robots-dir DIR`, as given. */
  readonly source: string;
  /** Path of the URL field, with dots. */
  readonly urlField: string;
  /** Whether the last input was text. */
  readonly isText: boolean;
}

/**
 * Describes the likely cause if a run decided almost nothing; otherwise undefined. Records that
 * `--unknown` decided count as decided.
 */
export function describeUselessRun(tally: Tally, circumstances: Circumstances): string | undefined {
  // Whether a host is known and a URL valid does not depend on the agent.
  const { verdicts, reasons } = countsOf(tally.outcomes[0] ?? []);
  const unanswered = verdicts.unknown + verdicts.invalid;
  if (tally.records <= FEW_RECORDS || unanswered <= USUAL_SHARE * tally.records) return undefined;
  const kind = verdicts.unknown >= verdicts.invalid ? 'unknown' : 'invalid';
  const cause =
    kind === 'unknown' ? causeOfUnknown(circumstances) : causeOfInvalid(reasons, circumstances);
  return (
    `warning: ${formatPercent(unanswered, tally.records)} of ${formatNumber(tally.records)} records got no answer ` +
    `(${formatNumber(verdicts.unknown)} unknown, ${formatNumber(verdicts.invalid)} invalid). ${cause}`
  );
}

function causeOfUnknown({ hosts, source }: Circumstances): string {
  if (hosts === 0) return `There is no robots.txt in ${source}. Check the path`;
  return (
    `${source} has no robots.txt for their hosts. Check the path, ` +
    'or fetch what is missing with --fetch --robots-dir DIR'
  );
}

function causeOfInvalid(
  reasons: Readonly<Record<Reason, number>>,
  { urlField, isText }: Circumstances,
): string {
  const causes = [
    [reasons['no-url'], `Their objects have no string "${urlField}". Use --url-field NAME`],
    [
      reasons['tab-in-line'],
      'Their lines are columns. Extract the URLs: cut -f1 FILE | robots-filter …',
    ],
    [
      reasons['return-in-line'],
      "Their lines end in CR. Convert them: tr '\\r' '\\n' < FILE | robots-filter …",
    ],
    [
      reasons['invalid-url'],
      isText
        ? "If they are hosts, add a scheme: sed 's,^,https://,' FILE | robots-filter …"
        : `If the values of "${urlField}" are hosts, add a scheme: a URL begins with https:// or http://`,
    ],
    [
      reasons['no-object'] + reasons['no-json'],
      'They are not JSON objects, one per line. Use --input text or --input json',
    ],
    [reasons['line-too-long'], 'They are too long. Use --max-line-bytes N'],
    [reasons['nested-too-deep'], 'They nest too deeply. Flatten them'],
  ] as const;
  return causes.reduce((most, cause) => (cause[0] > most[0] ? cause : most))[1];
}
