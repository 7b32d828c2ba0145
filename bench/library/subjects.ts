import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { InstalledPackage } from '../program/installed-package.js';

/** One parsed robots.txt, and the question whether a URL is allowed. */
export type Asker = (url: string, agent: string) => boolean;

/** A library as a crawler uses it: one object for each host. */
export interface Library {
  readonly name: string;
  parse(host: string, body: string): Asker;
}

/** What the benchmark uses of robots-filter; versions before the first release lack the rest. */
interface Module {
  readonly Robots: { parse(body: string): RobotsObject };
  readonly TableBuilder: new () => {
    add(authority: unknown, body: Uint8Array, details: { source: string }): void;
    build(): Uint8Array;
  };
  readonly Table: { from(bytes: Uint8Array): TableObject };
  parseAuthority(text: string): unknown;
}

interface RobotsObject {
  verdict(url: string, agent: string): { readonly verdict: string };
  isAllowed?(url: string, agent: string): boolean;
}

export interface TableObject extends RobotsObject {
  verdicts?(urls: readonly string[], agent: string): readonly string[];
}

/** An installed version of robots-filter, loaded into this process. */
export interface Version extends Library {
  /** As `parse`; asks for the whole judgement, with the rule. */
  parseForRule(body: string): Asker;
  table(bodies: ReadonlyMap<string, string>): TableObject;
}

export async function loadVersion(
  name: string,
  { directory }: Pick<InstalledPackage, 'directory'>,
): Promise<Version> {
  const path = join(directory, 'node_modules', 'robots-filter', 'dist', 'index.js');
  const { Robots, Table, TableBuilder, parseAuthority }: Module = await import(
    pathToFileURL(path).href
  );
  return {
    name,
    parse(_host, body) {
      const robots = Robots.parse(body);
      if (robots.isAllowed !== undefined)
        return (url, agent) => robots.isAllowed?.(url, agent) === true;
      return (url, agent) => robots.verdict(url, agent).verdict === 'allow';
    },
    parseForRule(body) {
      const robots = Robots.parse(body);
      return (url, agent) => robots.verdict(url, agent).verdict === 'allow';
    },
    table(bodies) {
      const builder = new TableBuilder();
      for (const [host, body] of bodies) {
        builder.add(parseAuthority(host), new TextEncoder().encode(body), { source: host });
      }
      return Table.from(builder.build());
    },
  };
}

type Parser = (url: string, body: string) => { isAllowed(url: string, agent: string): unknown };

/**
 * robots-parser from npm. An object answers for one scheme, so the benchmark asks for https only.
 */
export function loadRobotsParser(): Library {
  const parser: Parser = createRequire(import.meta.url)('robots-parser');
  return {
    name: 'robots-parser',
    parse(host, body) {
      const robots = parser(`https://${host}/robots.txt`, body);
      return (url, agent) => robots.isAllowed(url, agent) !== false;
    },
  };
}
