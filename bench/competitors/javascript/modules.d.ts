// Both packages come without declarations.

declare module 'robots-txt-parse' {
  import type { Readable } from 'node:stream';
  /** The parsed file that robots-txt-guard takes. */
  export interface ParsedRobotsTxt {
    readonly groups: readonly unknown[];
  }
  export default function parse(content: Readable): Promise<ParsedRobotsTxt>;
}

declare module 'robots-txt-guard' {
  import type { ParsedRobotsTxt } from 'robots-txt-parse';
  export default function makeGuard(robots: ParsedRobotsTxt): {
    isAllowed(agent: string, path: string): boolean;
  };
}
