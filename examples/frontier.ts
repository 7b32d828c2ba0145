/**
 * The frontier of a small crawler: it gives out only URLs that may be fetched.
 *
 * The robots.txt files lie in a directory, which `robots-filter fetch` fills, politely, and keeps
 * fresh. They are compiled into a table, and each refresh swaps the table. A table never changes,
 * so nobody has to wait: what was asked before is answered by the old table.
 *
 *     npx tsx examples/frontier.ts 'MyBot/1.0 (+https://example.com/bot)' https://example.com/
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { compileTable, Table, TableBuilder } from 'robots-filter';

export interface FrontierOptions {
  /** The directory of robots.txt files. */
  readonly cache: string;
  /** The User-Agent header; its product token comes first. */
  readonly userAgent: string;
  /** The command, and words for `fetch`. Default: `robots-filter`. */
  readonly command?: readonly string[];
  readonly fetchOptions?: readonly string[];
}

export class Frontier {
  /** URLs that may not be fetched, and URLs whose robots.txt nobody could ask for. */
  readonly denied: string[] = [];
  readonly unknown: string[] = [];
  readonly #options: FrontierOptions;
  readonly #agent: string;
  readonly #seen = new Set<string>();
  readonly #waiting: string[] = [];
  readonly #ready: string[] = [];
  #table = Table.from(new TableBuilder().build());

  constructor(options: FrontierOptions) {
    this.#options = options;
    this.#agent = options.userAgent.split('/', 1)[0] ?? '*';
  }

  /** Adds a URL, unless it was added before. */
  add(url: string): void {
    if (this.#seen.has(url)) return;
    this.#seen.add(url);
    this.#waiting.push(url);
  }

  /** The next URL that may be fetched; `undefined` when none is left. */
  async next(): Promise<string | undefined> {
    if (this.#ready.length === 0) await this.#judge();
    return this.#ready.shift();
  }

  /** Fetches stale robots.txt files again. URLs that are ready are judged once more. */
  async refresh(): Promise<void> {
    await this.#fetch(['--stale']);
    this.#waiting.unshift(...this.#ready.splice(0));
  }

  /**
   * Judges all URLs that wait, in one call. Unknown hosts are asked for their robots.txt before.
   */
  async #judge(): Promise<void> {
    const urls = this.#waiting.splice(0);
    const before = this.#table.verdicts(urls, this.#agent);
    const asked = urls.filter((_, index) => before[index] === 'unknown');
    if (asked.length > 0) await this.#fetch(['-'], asked);
    const verdicts = this.#table.verdicts(urls, this.#agent);
    for (const [index, url] of urls.entries()) {
      const verdict = verdicts[index];
      if (verdict === 'allow') this.#ready.push(url);
      else (verdict === 'unknown' ? this.unknown : this.denied).push(url);
    }
  }

  async #fetch(words: readonly string[], urls: readonly string[] = []): Promise<void> {
    const { cache, userAgent, command = ['robots-filter'], fetchOptions = [] } = this.#options;
    const [program = '', ...first] = command;
    await mkdir(cache, { recursive: true });
    const options = ['--robots-dir', cache, '--user-agent', userAgent, '--quiet', ...fetchOptions];
    const child = spawn(program, [...first, 'fetch', ...options, ...words], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    child.stdin.end(urls.map((url) => `${url}\n`).join(''));
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`robots-filter fetch ended with status ${code}`);
    this.#table = await compileTable(cache);
  }
}

/** Fetches pages one after another, and follows their links to the same site. */
export async function crawl(frontier: Frontier, userAgent: string): Promise<string[]> {
  const fetched: string[] = [];
  for (;;) {
    const url = await frontier.next();
    if (url === undefined) return fetched;
    const response = await fetch(url, { headers: { 'user-agent': userAgent } });
    fetched.push(url);
    for (const [, link = ''] of (await response.text()).matchAll(/href="([^"#]+)/g)) {
      const target = new URL(link, url);
      if (target.origin === new URL(url).origin) frontier.add(target.href);
    }
  }
}

const [, main = '', userAgent = '', ...urls] = process.argv;
if (import.meta.url === pathToFileURL(main).href) {
  const frontier = new Frontier({ cache: 'robots', userAgent });
  for (const url of urls) frontier.add(url);
  for (const url of await crawl(frontier, userAgent)) console.log(url);
}
