import robotsParserModule from 'robots-parser';
import type { Robots } from './robots.js';

interface Parsed {
  isAllowed(url: string, agent?: string): boolean | undefined;
}
// The types promise a default export, but the package exports the function itself.
const robotsParser = robotsParserModule as unknown as (url: string, body: string) => Parsed;

/** Parses twice: an object answers only for its own scheme, host and port. */
export function parseWithParser(host: string, body: string): Robots {
  const https = robotsParser(`https://${host}/robots.txt`, body);
  const http = robotsParser(`http://${host}/robots.txt`, body);
  return {
    isAllowed: (url, text, agent) =>
      (url.protocol === 'https:' ? https : http).isAllowed(text, agent) !== false,
  };
}
