import { bytesOf, charactersOf } from '../../oracle/bytes.js';
import { logUrl, readLogLine } from '../../oracle/log.js';
import { isBlank, SHOWN } from '../../oracle/records.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import type { Server } from '../../src/kernel/query-settings.js';
import { words } from '../../test/hostile/pieces.js';
import type { Random } from '../../test/random/random.js';
import { checkConversions } from '../conversions.js';
import { agree } from '../fault.js';
import { GuardedKernel } from '../kernel/guarded-kernel.js';
import type { Target } from '../target.js';

/** The rules show what an escape became. */
const RULES =
  'user-agent: *\ndisallow: /deny\ndisallow: /*"\ndisallow: /*%5C%5C\nallow: /deny/ok\n';
const HOST = 'a.example';
const SERVER: Server = { scheme: 'https', host: HOST, port: undefined };

const FIELDS = [
  ...words('a.example a.example:443 a.example:80 A.example:8080 [::1]:8443 [::1] unknown.example'),
  ...words('192.0.2.7 2001:db8::7 - a.example:0443 a.example: a.example:x a@b a/b %61.example a..'),
];
const TARGETS = [
  ...words('/deny /deny/ok / /\\x64eny /x\\" /x\\\\y /x\\x22 //a.example/deny /%64eny /\\xff * -'),
  ...words('http://a.example/deny https://A.example:8443/x ftp://a.example/deny a.example:443'),
  ...words('/a/../deny /\\t /x\\ /x\\x /x\\x2 /\xc3\xa9 /\xff /?q=\\" /x#\\" HTTP HTTP/ /deny\\n'),
  '/a b',
  '',
  '\x00',
];
const AGENTS = words('MyBot/1 - x\\"y \\x41 \\ "" "x" \\\\');
const PIECES = [
  ...['"', '\\', '\\"', '\\\\', '\\x', '\\x22', '[', ']', '] "', '] ', ' ', '\t', '\r', '\x00'],
  ...['\n', '\r\n', '\xff', ' HTTP/1.1', 'GET ', ' 200 5', ' - -', ' "-" "-"', '-', '/'],
];

function line(random: Random): string {
  const user = random.pick(['-', 'tom', 'a b', 'x [y]', 'x] y', '\\"q\\"', '[', ']', '\x00', '']);
  const time = random.pick(['10/Oct/2025:13:55:36 -0700', '', '-', '[', ']', 'x] y']);
  const version = random.pick([' HTTP/1.1', ' HTTP/1.1', ' HTTP/2.0', '', ' HTTP', ' ', ' HTTP/']);
  const request = random.chance(0.9)
    ? `${random.pick(['GET', 'HEAD', '', '\\x16\\x03'])} ${random.pick(TARGETS)}${version}`
    : random.pick(['-', '', 'GET', ' ', '\\x16\\x03\\x01']);
  const numbers = random.pick([' 200 5', ' 404 -', ' - -', ' 200', ' 200 5 ', ' x 5', '  5']);
  const agent = random.pick(AGENTS);
  const end = random.pick([
    ...Array.from({ length: 4 }, () => ` "-" "${agent}"`),
    ...['', ` "-" "${agent}" "10.0.0.1"`, ` "-" "${agent}`, ' "-"', ` "-" "${agent}"x`, ' -'],
    ` "\\"" "${agent}"`,
  ]);
  const whole = `${random.pick(FIELDS)} - ${user} [${time}] "${request}"${numbers}${end}`;
  return random.chance(0.1) ? whole.slice(0, random.between(0, whole.length)) : whole;
}

export const target: Target = {
  name: 'log',
  summary: 'lines of the logs of web servers, against a naive reader',
  maxBytes: 8000,
  seeds: [
    'a.example:443 192.0.2.1 - - [10/Oct/2025:13:55:36 -0700] "GET /deny HTTP/1.1" 200 5 "-" "MyBot/1"\n',
    '[::1]:8443 ::1 - x [y] [-] "GET /x\\x22 HTTP/2.0" 200 - "\\"" "x\\\\"\r\n\r\na.example - - [] "GET /"',
    'a.example - - [] "GET  HTTP/1.1" 200 5\na.example - - [] "GET /deny" - -\na.example - - [] "GET /a b HTTP" 1 2 "" "" x',
    'a.example - ] "x [y] "GET /deny" 1 1 "] "',
    `a.example - - [] "GET /${'\\"'.repeat(600)} HTTP/1.1" 200 5`,
  ],
  dictionary: [...FIELDS, ...TARGETS, ...AGENTS, ...PIECES],
  generate: (random) =>
    Array.from({ length: random.between(1, 5) }, () => line(random)).join(
      random.pick(['\n', '\n', '\r\n', '\n\n', '\n \t\n']),
    ),
  piece: (random) => random.pick([...TARGETS, ...PIECES, ` "-" "${random.pick(AGENTS)}"`]),
  check(build) {
    const kernel = new GuardedKernel(build);
    const builder = new TableBuilder();
    for (const authority of [
      SERVER,
      { scheme: 'http', host: HOST, port: undefined },
      { scheme: 'http', host: '[::1]', port: 8443 },
      { scheme: 'http', host: HOST, port: 8080 },
    ] as const) {
      builder.add(authority, bytesOf(RULES), { source: 's' });
    }
    const table = builder.build();
    return (input) => {
      kernel.load(table);
      checkLog(kernel, input, undefined);
      checkLog(kernel, input, SERVER);
    };
  },
};

function checkLog(kernel: GuardedKernel, input: Uint8Array, server: Server | undefined): void {
  const lines = charactersOf(input).split('\n');
  // No line follows the last LF.
  const open = lines.pop() ?? '';
  const ended = lines.filter((each) => !isBlank(each));
  const records = isBlank(open) ? ended : [...ended, open];
  // Without an LF, a CR is no line end.
  const texts = records.map((each, at) => (at < ended.length ? withoutReturn(each) : each));
  const judged = kernel.ask({ format: 'text' });
  const urls = texts.map((text) => {
    const read = readLogLine(text);
    return read && logUrl(text, read, server && `https://${HOST}`);
  });
  const verdicts = urls.map((url) =>
    url === undefined ? 'invalid' : kernel.judge(judged, bytesOf(url)).verdict,
  );
  const asked = { format: 'log', server } as const;
  const annotated = kernel.run(kernel.ask(asked), input).output;
  const expected = records.map((each, at) => `${verdicts[at]}\t${each}\n`);
  agree('annotated lines', annotated, expected.join(''));
  for (const [output, verdict] of [
    ['allowed', 'allow'],
    ['denied', 'deny'],
  ] as const) {
    const passed = records.filter((_, at) => verdicts[at] === verdict).map((each) => `${each}\n`);
    agree(output, kernel.run(kernel.ask({ ...asked, output }), input).output, passed.join(''));
  }
  // A target that is neither a path nor a URL says less than its line.
  const shown = urls.map((url, at) =>
    url !== undefined && verdicts[at] !== 'invalid' ? url : texts[at]?.slice(0, SHOWN),
  );
  checkConversions(kernel, asked, input, shown);
}

/** A line without the CR of its line end. */
function withoutReturn(text: string): string {
  return text.endsWith('\r') ? text.slice(0, -1) : text;
}
