import { charactersOf } from '../../oracle/bytes.js';
import { isBlank, severalUrls } from '../../oracle/records.js';
import { decidingLine, readGroups } from '../../oracle/robots.js';
import { verdictOf } from '../../oracle/verdict.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { PROFILES, type Profile } from '../../src/protocol/verdict.js';
import { hostileFile } from '../../test/hostile/file.js';
import { hostilePattern } from '../../test/hostile/pattern.js';
import { DOT_ENDS, ESCAPED_DELIMITERS, INDEXES, piece, words } from '../../test/hostile/pieces.js';
import { agree } from '../fault.js';
import { GuardedKernel } from '../kernel/guarded-kernel.js';
import type { Target } from '../target.js';

const LF = 0x0a;
const TAB = '\t';
/** Columns of `--explain` after the URL, which may hold tabs itself. */
const COLUMNS = 5;

/**
 * Parser, compiler and kernel together: an input is a URL, a line feed, profile and agent with a
 * space between them, a line feed, and a robots.txt. Verdict and deciding line are compared with
 * the naive matcher.
 */
export const target: Target = {
  name: 'match',
  summary: 'compiler and matcher together, against the naive matcher',
  maxBytes: 3000,
  seeds: [
    'http://h/private/open\nrfc9309 bot\nuser-agent: *\ndisallow: /private/\nallow: /private/open$\n',
    'http://h/x?u=/a\nrfc9309 *\nuser-agent: *\ndisallow: /*u=%2Fa\n',
    'http://h/a/\ngoogle a\nuser-agent: a\ndisallow: /\nallow: /a/index.html\n',
    'http://h/a\ndraft-koster-rep-00 b>a\nuser-agent: *\nuser-agent: *\ndisallow: /a',
    'http://h/itm/x/%20y\nrfc9309 *\nuser-agent: *\ndisallow: /itm/*/%\n',
    'http://h/%20%2F?%20\nrfc9309 *\nuser-agent: *\ndisallow: /%*0%2*F?%2\nallow: /%2$\n',
    'http://h/?%%32Fa?/b\nrfc9309 *\nuser-agent: *\ndisallow: /*%2Fa*%2Fb$\n',
    `http://h/x1y2\nrfc9309 *\nuser-agent: *\n${Array.from({ length: 40 }, (_, i) => `disallow: /*x${i}*y\n`).join('')}`,
    `http://h/${'ab'.repeat(99)}c\nrfc9309 *\nuser-agent: *\ndisallow: /*${'ab'.repeat(40)}c\n`,
    `http://h/${'a'.repeat(70)}\nrfc9309 *\nuser-agent: *\ndisallow: /*${'a'.repeat(33)}b*$\nallow:/*%3Fa`,
  ],
  dictionary: [
    ...words('user-agent: disallow: allow: rfc9309 google draft-koster-rep-00 a-bot * b_bot>a-bot'),
    ...[
      ...DOT_ENDS,
      ...ESCAPED_DELIMITERS,
      ...INDEXES,
      '\ndisallow: /',
      '\nallow: /',
      '\nuser-agent: *\n',
    ],
    ...words(
      '%2A %24 %25 $ *$ ** /* ? # %2e \\ /robots.txt http:// // % %2 %* %2* *2F *F %$ %%32F',
    ),
  ],
  generate(random) {
    const profile = random.pick(PROFILES);
    const { robots, urls, chains } = hostileFile(random, profile, { urls: 1, chains: 1 });
    const chain = (chains[0] ?? []).join('>');
    return `${withoutLf(urls[0] ?? '')}\n${profile} ${withoutLf(chain)}\n${robots}`;
  },
  piece(random) {
    if (random.chance(0.5)) return piece(random);
    return `\n${random.pick(['allow', 'disallow'])}: ${hostilePattern(random, [])}\n`;
  },
  check(build) {
    const kernel = new GuardedKernel(build);
    return (input) => {
      const urlEnd = indexOf(input, 0);
      const agentEnd = indexOf(input, urlEnd + 1);
      const url = input.subarray(0, urlEnd);
      const robots = input.subarray(Math.min(agentEnd + 1, input.length));
      const line = charactersOf(input.subarray(Math.min(urlEnd + 1, input.length), agentEnd));
      const { profile, agent } = agentOf(line);
      checkVerdict(kernel, url, profile, agent, robots);
    };
  },
};

function withoutLf(text: string): string {
  return text.split('\n').join('');
}

/** Offset of the next line feed, or the end. */
function indexOf(input: Uint8Array, from: number): number {
  const at = input.indexOf(LF, from);
  return at < 0 ? input.length : at;
}

/**
 * The settings on the second line; an unknown profile becomes `rfc9309` and an invalid agent
 * becomes `*`.
 */
function agentOf(line: string): { profile: Profile; agent: string } {
  const space = line.indexOf(' ');
  const profile = PROFILES.find((name) => name === line.slice(0, space)) ?? 'rfc9309';
  const agent = line.slice(space + 1);
  try {
    parseAgent(agent, profile);
  } catch {
    return { profile, agent: '*' };
  }
  return { profile, agent };
}

function checkVerdict(
  kernel: GuardedKernel,
  url: Uint8Array,
  profile: Profile,
  name: string,
  robots: Uint8Array,
): void {
  const agent = parseAgent(name, profile);
  const builder = new TableBuilder({ profile });
  builder.add({ scheme: undefined, host: 'any.invalid', port: undefined }, robots, { source: '' });
  kernel.load(builder.build());
  const query = kernel.ask({
    google: profile === 'google',
    agents: [agent],
    format: 'text',
    explain: true,
    anyHost: kernel.anyRobots,
  });
  const groups = readGroups(robots, profile);
  const naive = verdictOf(groups, profile, agent.chain, url);
  agree('the verdict', kernel.judge(query, url).verdict, naive.verdict);

  // A line of only white space is not a record.
  const { output } = kernel.run(query, url);
  if (output === '') {
    agree('a URL without a verdict', isBlank(charactersOf(url)), true);
    return;
  }
  const columns = output.split(TAB);
  const several = severalUrls(charactersOf(url));
  if (several !== undefined) {
    agree('the reason of several URLs', output.includes(`\t${several}\t`), true);
    agree('the verdict on several URLs', columns[0], 'invalid');
    return;
  }
  agree('the verdict in text', columns[0], naive.verdict);
  const deciding = decidingLine(groups, naive.line);
  agree(
    'the deciding line',
    columns[columns.length - COLUMNS + 1],
    deciding === 0 ? '' : `${deciding}`,
  );
}
