/**
 * The lines of the logs of web servers in the combined and the common format, read plainly. Texts
 * have one character for each byte.
 */

/** What a line says. */
export interface LogLine {
  /** As it stands between the brackets. */
  readonly time: string;
  /** The target of the request, without escapes. */
  readonly target: string;
  /** The User-Agent as it stands in the line; `undefined` in the common format. */
  readonly agent: string | undefined;
}

/** A text in quotes, and what comes after it. A backslash escapes any byte. */
const QUOTED = /^"((?:[^"\\]|\\.)*)"(.*)$/s;

/** Reads a line; `undefined` if it is not of the format, or has no target. */
export function readLogLine(line: string): LogLine | undefined {
  const [head = '', ...others] = line.split('] "');
  if (others.length === 0 || !head.includes('[')) return undefined;
  const [, request = '', numbers] = QUOTED.exec(`"${others.join('] "')}`) ?? [];
  const rest = /^ (?:\d+|-) (?:\d+|-)(.*)$/s.exec(numbers ?? '')?.[1];
  if (rest === undefined) return undefined;
  let agent: string | undefined;
  if (rest !== '') {
    const afterReferer = QUOTED.exec(rest.slice(1))?.[2] ?? '';
    const [, text, after = ''] = QUOTED.exec(afterReferer.slice(1)) ?? [];
    const isSpaced = rest.startsWith(' ') && afterReferer.startsWith(' ');
    if (!isSpaced || text === undefined || !/^(?: |$)/.test(after)) return undefined;
    agent = text;
  }
  const words = request.split(' ').slice(1);
  if (/^HTTP./s.test(words.at(-1) ?? '')) words.pop();
  const target = withoutLogEscapes(words.join(' '));
  const time = head.slice(head.lastIndexOf('[') + 1);
  return target === '' ? undefined : { time, target, agent };
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '"': '"',
  '\\': '\\',
};

/** Undoes the escapes of a log: `\xhh`, and those of C. Other backslashes stay. */
export function withoutLogEscapes(text: string): string {
  return text.replace(/\\x([0-9a-fA-F]{2})|\\(.)/gs, (whole, hex?: string, other = '') =>
    hex === undefined ? (ESCAPES[other] ?? whole) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/**
 * The URL for which a line asks; `undefined` if the server that it names is none.
 *
 * @param server scheme and authority; by default the line's first field
 */
export function logUrl(line: string, { target }: LogLine, server?: string): string | undefined {
  if (!target.startsWith('/')) return target;
  if (server !== undefined) return `${server}${target}`;
  const [field = ''] = line.split(' ');
  // What else a URL may have before its path is no part of a server's name.
  if (field === '' || /[/\\?#@]/.test(field) || [...field].some((byte) => byte < ' ')) {
    return undefined;
  }
  const port = /:(\d*)$/.exec(field.replace(/\[.*\]/s, ''))?.[1] ?? '';
  const scheme = port === '' || Number(port) === 443 ? 'https' : 'http';
  return `${scheme}://${field}${target}`;
}
