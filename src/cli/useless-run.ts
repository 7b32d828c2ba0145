import type { Tally } from '../pipeline/tally.js';
import type { Reason } from '../protocol/verdict.js';
import { grouped, share } from './numbers.js';
import { countsOf } from './statistics.js';

/** Records up to which nothing is said: a trial with a few URLs is looked at anyway. */
const FEW_RECORDS = 1_000;
/** Share of the records without an answer beyond which something is likely wrong. */
const MOST = 0.95;

/** How the records were judged, as far as it tells what may be wrong. */
export interface Circumstances {
  /** Hosts in the table. */
  readonly hosts: number;
  /** `--table FILE` or `--robots-dir DIR`, as it was said. */
  readonly source: string;
  /** The URL field, its keys with dots between them. */
  readonly urlField: string;
  /** Whether the last input was text. */
  readonly isText: boolean;
}

/**
 * One sentence for a run that has answered almost nothing, with the likely cause; `undefined` for
 * any other. Records that were unknown, and allowed or denied for it (`--unknown`), have their
 * answer.
 */
export function describeUselessRun(tally: Tally, circumstances: Circumstances): string | undefined {
  // Whether a host is known and a URL valid does not depend on the agent.
  const { verdicts, reasons } = countsOf(tally.outcomes[0] ?? []);
  const unanswered = verdicts.unknown + verdicts.invalid;
  if (tally.records <= FEW_RECORDS || unanswered <= MOST * tally.records) return undefined;
  const kind = verdicts.unknown >= verdicts.invalid ? 'unknown' : 'invalid';
  const cause =
    kind === 'unknown' ? causeOfUnknown(circumstances) : causeOfInvalid(reasons, circumstances);
  return (
    `warning: ${share(unanswered, tally.records)} of ${grouped(tally.records)} records got no answer ` +
    `(${grouped(verdicts.unknown)} unknown, ${grouped(verdicts.invalid)} invalid). ${cause}`
  );
}

function causeOfUnknown({ hosts, source }: Circumstances): string {
  if (hosts === 0) return `There is no robots.txt in ${source}. Is it the right one?`;
  return (
    `${source} has no robots.txt for their hosts. Is it the right one? ` +
    'To fetch what is missing, say --fetch --robots-dir DIR'
  );
}

function causeOfInvalid(
  reasons: Readonly<Record<Reason, number>>,
  { urlField, isText }: Circumstances,
): string {
  const causes = [
    [reasons['no-url'], `Their objects have no text at "${urlField}". Say --url-field NAME`],
    [reasons['tab-in-line'], 'They are columns. Cut the URLs out: cut -f1 FILE | robots-filter …'],
    [
      reasons['return-in-line'],
      "Their lines end in CR. Say: tr '\\r' '\\n' < FILE | robots-filter …",
    ],
    [
      reasons['invalid-url'],
      isText
        ? "Are they hosts without a scheme? Say: sed 's,^,https://,' FILE | robots-filter …"
        : `Are the values of "${urlField}" hosts without a scheme? A URL begins with https:// or http://`,
    ],
    [
      reasons['no-object'] + reasons['no-json'],
      'They are no JSON objects, one a line. Say --input text or --input json',
    ],
    [reasons['line-too-long'], 'They are too long. Say --max-line-bytes N'],
    [reasons['nested-too-deep'], 'Brackets and braces nest too deep in them. Flatten them'],
  ] as const;
  return causes.reduce((most, cause) => (cause[0] > most[0] ? cause : most))[1];
}
