import { answersFor } from '../../inspect/authority-match.js';
import type { TableAuthority } from '../../inspect/table-content.js';
import type { TableView } from '../../inspect/table-view.js';
import { type Authority, formatAuthority } from '../../protocol/authority.js';
import { authorityLabel } from '../report/authority-label.js';
import { usageError } from '../usage-error.js';
import { askedAuthority } from './asked-authority.js';
import { listLines } from './list-lines.js';

/** A host that was asked for, and its authorities in a table. */
export interface AskedHost {
  readonly label: string;
  readonly authorities: readonly (readonly [label: string, authority: TableAuthority])[];
}

/** Hosts that a report is limited to, sorted, each scheme and port once. */
export class AskedHosts {
  readonly #asked: ReadonlyMap<string, Authority>;

  constructor(asked: ReadonlyMap<string, Authority>) {
    this.#asked = asked;
  }

  /** The canonical hosts. */
  get hosts(): string[] {
    return [...this.#asked.values()].map(({ host }) => host);
  }

  /** The hosts with their authorities in a table. */
  *in(view: TableView): Iterable<AskedHost> {
    let host: string | undefined;
    const reported = new Set<number>();
    for (const [label, asked] of [...this.#asked].sort(byHost)) {
      if (asked.host !== host) reported.clear();
      host = asked.host;
      const found = view.find(host);
      const answering = found?.authorities.filter((each) => answersFor(each, asked)) ?? [];
      const authorities = answering.filter(({ at }) => !reported.has(at));
      // A list may have a host and its URLs, or a URL of each scheme.
      if (answering.length > 0 && authorities.length === 0) continue;
      for (const { at } of authorities) reported.add(at);
      yield {
        label,
        authorities: authorities.map((each) => [
          found === undefined ? label : authorityLabel(found, each),
          each,
        ]),
      };
    }
  }
}

type Asked = readonly [label: string, authority: Authority];

function byHost([label, { host }]: Asked, [otherLabel, { host: otherHost }]: Asked): number {
  if (host !== otherHost) return host < otherHost ? -1 : 1;
  return label < otherLabel ? -1 : 1;
}

/**
 * Reads hosts, one on each line: a host, HOST:PORT or a URL. Blank lines do not count.
 *
 * @param path `-` is standard input
 * @throws RobotsFilterError `input` if the file cannot be read, `usage` for a line that is no host
 */
export async function readHosts(path: string): Promise<AskedHosts> {
  const asked = new Map<string, Authority>();
  for await (const { number, text } of listLines(path)) {
    const authority = askedAuthority(text);
    if (authority === undefined) {
      throw usageError(
        `${path}:${number}: ${JSON.stringify(text.slice(0, 200))} is not a host. Use a host (example.com), HOST:PORT or a URL on each line`,
      );
    }
    asked.set(formatAuthority(authority), authority);
  }
  return new AskedHosts(asked);
}
