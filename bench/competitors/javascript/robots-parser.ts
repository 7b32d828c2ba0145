import robotsParserModule from 'robots-parser';
import type { Robots } from './main.js';

interface Parsed {
  isAllowed(url: string, agent?: string): boolean | undefined;
}
// The package's types name a default export; what it exports is the function itself.
const robotsParser = robotsParserModule as unknown as (url: string, body: string) => Parsed;

/** One object for each scheme, since an object answers for its own scheme, host and port only. */
export function parseWithParser(host: string, body: string): Robots {
  const https = robotsParser(`https://${host}/robots.txt`, body);
  const http = robotsParser(`http://${host}/robots.txt`, body);
  return {
    isAllowed: (url, text, agent) =>
      (url.protocol === 'https:' ? https : http).isAllowed(text, agent) !== false,
  };
}
