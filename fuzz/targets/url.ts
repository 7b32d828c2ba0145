import { bytesOf, charactersOf } from '../../oracle/bytes.js';
import { severalUrls } from '../../oracle/records.js';
import { exactPattern, isRobotsTxt, readWhatwgUrl, type WhatwgUrl } from '../../oracle/url.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { OFFSET_BYTES, REASON_BITS } from '../../src/kernel/layout.js';
import { type Authority, canonicalHost } from '../../src/protocol/authority.js';
import { REASONS, VERDICTS } from '../../src/protocol/verdict.js';
import { pieces, words } from '../../test/hostile/pieces.js';
import { hostileUrl } from '../../test/hostile/url.js';
import { checkConversions } from '../conversions.js';
import { agree } from '../fault.js';
import { GuardedKernel, type Outcome } from '../kernel/guarded-kernel.js';
import type { Target } from '../target.js';

const AUTHORITIES = [
  ...words(
    'http:// https:// ftp:// HTTP:// http: http:/ http:\\\\ //h h:80 h:443 h:21 h:0 h:65535',
  ),
  ...words('h.example h.example. 1.2.3.4 0x7f.1 127.1 1.2.3.256 [::1] [::ffff:1.2.3.4] [1::2]:80'),
  ...words(
    'xn--mnchen-3ya.example m\xc3\xbcnchen.example a--b.example a_b -a- a..b %68 user@ u:p@ @',
  ),
  ...words(
    "\xef\xbc\xa1 \xc2\xad \xe2\x80\x8d \xe3\x80\x82 \xc3\x9f %C3%BC xn-- xn--a x' h:00080 h: ::",
  ),
];

/** One robots.txt that denies everything, and one that allows everything. */
const ALLOWING = bytesOf('user-agent: *\ndisallow:\n');

/**
 * The URL scanner, through four entrances: alone, as a value of a column, on a line of text, and in
 * a JSON string. If
 * `URL` accepts the input, a table is made that denies exactly this scheme, host, port, path and
 * query, and allows the neighbours. oracle/url.ts lists the intended differences.
 */
export const target: Target = {
  name: 'url',
  summary: 'the URL scanner, against WHATWG URL',
  maxBytes: 2048,
  seeds: [
    'https://www.example.com:8443/a/b.html?c=d#e',
    'http://user:password@example.com:80/a/../b/./c%2e/%2E%2e/d',
    ' HTTP:\\\\Example.COM.\\a\tb\n',
    'http://[2001:DB8::1]:8080/?',
    'http://m\xc3\xbcnchen.example/\xc3\xa9?\xff',
    'ftp://1.2.3.4/%zz%41',
    'http:\xe3\x83\n\x84',
    `http://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}/`,
    "http://h/?a='b'&c=%27",
    'http://h/%72obots.txt',
    'http:h/%E',
    'mailto:x@example.com',
    `HTTP://u@H?\n${'<'.repeat(500)}`,
  ],
  dictionary: [
    ...AUTHORITIES,
    ...words('/./ /../ /%2e%2E/ .. %2e \\ ? # @ : [ ] %00 %0a %25 %2F /robots.txt'),
    '\t',
    '\r\n',
    ' ',
  ],
  generate: (random) => hostileUrl(random, 'rfc9309', []),
  piece: (random) => (random.chance(0.4) ? random.pick(AUTHORITIES) : pieces(random, 1, 3)),
  check(build) {
    const kernel = new GuardedKernel(build);
    return (input) => {
      const url = readWhatwgUrl(input);
      kernel.load(tableOf(url));
      const query = kernel.ask({});
      const outcome = kernel.judge(query, input);
      checkOutcome(outcome, url);

      checkColumn(kernel, input, outcome);
      const json = kernel.run(kernel.ask({ explain: true }), inJson(input));
      const expected = `"verdict":"${outcome.verdict}","reason":"${outcome.reason}"`;
      agree('the same in JSON', json.output.includes(expected), true);
      if (input.includes(0x0a)) return;
      const text = kernel.run(kernel.ask({ format: 'text' }), input);
      if (text.output === '') {
        agree('the verdict on white space', outcome.verdict, 'invalid');
      } else {
        const verdict =
          severalUrls(charactersOf(input)) === undefined ? outcome.verdict : 'invalid';
        agree('the verdict in text', text.output.split('\t')[0], verdict);
        checkConversions(kernel, { format: 'text' }, input, [charactersOf(input)]);
        checkReread(kernel, input, outcome);
      }
    };
  },
};

/** A URL that comes out as text has the same verdict when it is read again. */
function checkReread(kernel: GuardedKernel, input: Uint8Array, outcome: Outcome): void {
  if (outcome.verdict === 'invalid') return;
  const asText = kernel.run(kernel.ask({ conversion: 'text' }), inJson(input)).output;
  const [verdict = '', url = ''] = asText.slice(0, -1).split('\t');
  agree('the verdict as text', verdict, outcome.verdict);
  const again = kernel.ask({});
  agree('the verdict when read again', kernel.judge(again, bytesOf(url)).verdict, outcome.verdict);
}

/** Values of a column have the same outcome, beside themselves and beside an empty value. */
function checkColumn(kernel: GuardedKernel, input: Uint8Array, { verdict, reason }: Outcome): void {
  const values = [input, new Uint8Array(0), input];
  const offsets = new Uint32Array(values.length + 1);
  values.forEach((value, index) => {
    offsets[index + 1] = (offsets[index] as number) + value.length;
  });
  const column = Buffer.concat([new Uint8Array(offsets.buffer), ...values]);
  const query = kernel.ask({ format: 'offsets', conversion: 'outcomes' });
  const { output, lines } = kernel.run(query, column, OFFSET_BYTES * values.length);
  const own = (VERDICTS.indexOf(verdict) << REASON_BITS) | REASONS.indexOf(reason);
  const empty = (VERDICTS.indexOf('invalid') << REASON_BITS) | REASONS.indexOf('invalid-url');
  agree('the values of a column', lines, values.length);
  agree('their outcomes', output, String.fromCharCode(own, empty, own));
}

function checkOutcome(outcome: Outcome, url: WhatwgUrl | undefined): void {
  if (url === undefined) {
    agree('the verdict on what is no URL', outcome.verdict, 'invalid');
  } else if (url.port === 0) {
    agree('the verdict at port 0', outcome.verdict, 'unknown');
  } else if (isRobotsTxt(url.target)) {
    agree('the reason on /robots.txt', outcome.reason, 'robots-txt');
  } else {
    agree(`the verdict on ${exactPattern(url.target)}`, outcome.verdict, 'deny');
  }
}

/** A table that denies only this URL and knows all of its neighbours. */
function tableOf(url: WhatwgUrl | undefined): Uint8Array {
  const builder = new TableBuilder();
  if (url !== undefined && url.port !== 0) {
    const { scheme, host, port } = url;
    const neighbours: Authority[] = [
      { scheme: undefined, host, port: undefined },
      { scheme: undefined, host, port: 8081 },
      { scheme: undefined, host, port: port === undefined ? 81 : port },
    ];
    const near = canonicalHost(`a${host.slice(1)}`);
    if (near !== undefined) neighbours.push({ scheme: undefined, host: near, port });
    for (const authority of neighbours) builder.add(authority, ALLOWING, { source: 'neighbour' });
    const rules = bytesOf(`user-agent: *\ndisallow: ${exactPattern(url.target)}\n`);
    builder.add({ scheme, host, port }, rules, { source: 'itself' });
  }
  return builder.build();
}

/** The URL as the only member of an object; bytes that are not UTF-8 are unchanged. */
function inJson(input: Uint8Array): Uint8Array {
  const escaped = Array.from(charactersOf(input), (byte) =>
    byte < ' ' || byte === '"' || byte === '\\'
      ? `\\u${byte.charCodeAt(0).toString(16).padStart(4, '0')}`
      : byte,
  );
  return bytesOf(`{"url":"${escaped.join('')}"}`);
}
