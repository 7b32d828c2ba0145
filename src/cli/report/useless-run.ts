import type { Tally } from '../../pipeline/counts.js';
import { placeOfUrls, type SampledInput, WHOLE_LINE } from '../../pipeline/input/url-places.js';
import {
  type Authority,
  authorityOfUrl,
  DEFAULT_PORTS,
  formatAuthority,
} from '../../protocol/authority.js';
import type { Reason } from '../../protocol/verdict.js';
import { answersFor, type TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import { formatNumber, formatPercent } from '../text.js';
import { countsOf } from './statistics.js';

/** Number of records up to which a warning needs that none was decided. */
const FEW_RECORDS = 1_000;
/** Share of undecided records above which something is likely wrong. */
const USUAL_SHARE = 0.95;

const WWW = 'www.';

/** The circumstances of a run, from which the likely cause follows. */
export interface Circumstances {
  readonly view: TableView;
  /** Number of hosts in the table. */
  readonly hosts: number;
  /** `--table FILE` or `--robots-dir DIR`, as given. */
  readonly source: string;
  /** Path of the URL field, with dots. */
  readonly urlField: string;
  /** Whether the last input was text. */
  readonly isText: boolean;
  /** The first records of an input in which nothing was decided. */
  readonly sample: SampledInput | undefined;
}

/** Whether a run decided almost nothing, and so needs a warning. */
export function isUseless(tally: Tally): boolean {
  // Whether a host is known and a URL valid does not depend on the agent.
  const { verdicts } = countsOf(tally.outcomes[0] ?? []);
  const unanswered = verdicts.unknown + verdicts.invalid;
  if (tally.records <= FEW_RECORDS) return tally.records > 0 && unanswered === tally.records;
  return unanswered > USUAL_SHARE * tally.records;
}

/**
 * Describes the likely cause if a run decided almost nothing; otherwise undefined. Records that
 * `--unknown` decided count as decided.
 */
export function describeUselessRun(tally: Tally, circumstances: Circumstances): string | undefined {
  if (!isUseless(tally)) return undefined;
  const { verdicts, reasons } = countsOf(tally.outcomes[0] ?? []);
  const unanswered = verdicts.unknown + verdicts.invalid;
  const kind = verdicts.unknown >= verdicts.invalid ? 'unknown' : 'invalid';
  const cause =
    kind === 'unknown' ? causeOfUnknown(circumstances) : causeOfInvalid(reasons, circumstances);
  const share =
    tally.records === 1
      ? 'the only record'
      : `${formatPercent(unanswered, tally.records)} of ${formatNumber(tally.records)} records`;
  return (
    `warning: ${share} got no answer ` +
    `(${formatNumber(verdicts.unknown)} unknown, ${formatNumber(verdicts.invalid)} invalid). ${cause}`
  );
}

function causeOfUnknown({ hosts, source, view, sample, urlField }: Circumstances): string {
  if (hosts === 0) return `There is no robots.txt in ${source}. Check the path`;
  // The sample may begin with the few records that got an answer.
  const authorities = authoritiesOf(sample, urlField).filter(
    (authority) => !authoritiesAt(view, authority.host).some((each) => answersFor(each, authority)),
  );
  const near = nearMiss(authorities, view);
  if (near !== undefined) return near;
  const [first] = authorities;
  const example = first === undefined ? '' : `, such as ${formatAuthority(first)}`;
  return (
    `${source} has no robots.txt for their hosts${example}. Check the path, ` +
    'or fetch what is missing with --fetch --robots-dir DIR'
  );
}

/** The distinct authorities of the sampled URLs, at the place where URLs were read. */
function authoritiesOf(sample: SampledInput | undefined, urlField: string): Authority[] {
  if (sample === undefined) return [];
  const { values } = sample;
  const urls = values.get(urlField) ?? values.get(placeOfUrls(sample) ?? WHOLE_LINE) ?? [];
  const found = new Map<string, Authority>();
  for (const url of urls) {
    const authority = authorityOfUrl(url);
    if (authority !== undefined) found.set(formatAuthority(authority), authority);
  }
  return [...found.values()];
}

/** What differs if the source has a robots.txt for nearly the same authority. */
function nearMiss(authorities: readonly Authority[], view: TableView): string | undefined {
  const fetching = 'fetch what is missing with --fetch --robots-dir DIR';
  for (const authority of authorities) {
    const asked = formatAuthority(authority);
    const there = authoritiesAt(view, authority.host);
    const [other] = there;
    if (other !== undefined) {
      const isOfScheme = there.some(({ schemes }) => schemes.some((s) => s === authority.scheme));
      const name = nameOf(authority.host, other);
      const remedy = isOfScheme
        ? `To have its own, ${fetching}`
        : `A file that is named by its host alone counts for http and https. Or ${fetching}`;
      const what = isOfScheme ? 'port' : 'scheme';
      return `The robots.txt of ${name} does not count for ${asked}, which has another ${what}. ${remedy}`;
    }
    const { host } = authority;
    const sibling = host.startsWith(WWW) ? host.slice(WWW.length) : WWW + host;
    const [sister] = authoritiesAt(view, sibling).filter((each) =>
      answersFor(each, { ...authority, host: sibling }),
    );
    if (sister !== undefined) {
      return `There is a robots.txt for ${sibling}, and it does not count for ${host}. Fetch what is missing with --fetch --robots-dir DIR`;
    }
  }
  return undefined;
}

function authoritiesAt(view: TableView, host: string): readonly TableAuthority[] {
  return view.canFind(host) ? (view.find(host)?.authorities ?? []) : [];
}

function nameOf(host: string, { schemes, port }: TableAuthority): string {
  const [scheme] = schemes;
  const name = formatAuthority({ scheme, host, port });
  return port === undefined && scheme !== undefined
    ? `${name} (port ${DEFAULT_PORTS[scheme]})`
    : name;
}

function causeOfInvalid(
  reasons: Readonly<Record<Reason, number>>,
  { urlField, isText, sample }: Circumstances,
): string {
  const isElsewhere = sample === undefined ? undefined : elsewhere(sample, urlField);
  if (isElsewhere !== undefined) return isElsewhere;
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

/** Where the URLs are, if they are elsewhere than was looked. */
function elsewhere(sample: SampledInput, urlField: string): string | undefined {
  const { unit, otherFormat } = sample;
  if (unit === undefined) {
    return otherFormat === undefined
      ? undefined
      : `Their lines are ${otherFormat === 'ndjson' ? 'JSON objects' : 'rows'}. Use --input ${otherFormat}, or leave --input out`;
  }
  const place = placeOfUrls(sample);
  if (place === undefined || place === urlField) return undefined;
  return `The ${unit} "${place}" holds URLs. Use --url-field ${shellWord(place)}`;
}

const PLAIN = 'abcdefghijklmnopqrstuvwxyz0123456789_-.';

/** A name as a word of a shell. */
function shellWord(name: string): string {
  const isPlain = [...name.toLowerCase()].every((character) => PLAIN.includes(character));
  return isPlain ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
