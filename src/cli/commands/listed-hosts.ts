import {
  type Authority,
  DEFAULT_PORTS,
  parseAuthority,
  type Scheme,
} from '../../protocol/authority.js';
import { urlAuthority } from './asked-authority.js';
import { urlsOf } from './url-lines.js';

const ASSUMED_SCHEMES: readonly Scheme[] = ['http', 'https'];

/** The authorities of a list of URLs. */
export class ListedHosts {
  /** For each host, scheme and port, whether a robots.txt of it was found. */
  readonly #found = new Map<string, boolean>();

  /**
   * Reads a list with one URL on each line, in any form that the filter reads, or one host. Lines
   * without a host do not count.
   *
   * @param path `-` is standard input
   * @throws RobotsFilterError `input`
   */
  static async read(path: string): Promise<ListedHosts> {
    const hosts = new ListedHosts();
    for await (const url of urlsOf(path)) {
      const { scheme, host = '', port } = urlAuthority(url) ?? parseAuthority(url) ?? {};
      if (host === '') continue;
      for (const each of scheme === undefined ? ASSUMED_SCHEMES : [scheme]) {
        hosts.#found.set(keyOf(each, host, port), false);
      }
    }
    return hosts;
  }

  /** Whether the list has a URL of an authority. */
  has({ scheme, host, port }: Authority): boolean {
    let isListed = false;
    for (const each of scheme === undefined ? ASSUMED_SCHEMES : [scheme]) {
      const key = keyOf(each, host, port);
      if (!this.#found.has(key)) continue;
      this.#found.set(key, true);
      isListed = true;
    }
    return isListed;
  }

  get count(): number {
    return this.#found.size;
  }

  /** How many authorities were never asked for. */
  get missing(): number {
    let missing = 0;
    for (const found of this.#found.values()) if (!found) missing++;
    return missing;
  }
}

function keyOf(scheme: Scheme, host: string, port: number | undefined): string {
  return `${scheme} ${port ?? DEFAULT_PORTS[scheme]} ${host}`;
}
