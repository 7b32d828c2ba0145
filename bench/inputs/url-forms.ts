import { existsSync, renameSync, statSync, writeFileSync } from 'node:fs';
import type { CapturePlan } from '../corpus/capture-plan.js';
import { ChunkedFile } from '../corpus/chunked-file.js';
import { type IndexRow, indexRows } from '../corpus/index-rows.js';
import { LOG_AGENTS } from './agents.js';
import type { GeneratedArchive } from './archive-store.js';

/** Forms of a list of URLs that are lines of text. */
export const LINE_FORMS = ['txt', 'csv', 'tsv', 'ndjson', 'cdx', 'cdxj', 'log'] as const;
export type LineForm = (typeof LINE_FORMS)[number];

/** The columns of forms beside the URL, by their places in a row of the index. */
const KEY = 0;
const TIME = 10;
const STATUS = 11;
const DIGEST = 12;
const MIME = 14;
const FILE = 17;
const OFFSET = 18;
const LENGTH = 19;

/** Lines that stand before all others. */
const HEADERS: Partial<Record<LineForm, string>> = {
  csv: 'file,url,status,title\n',
  tsv: 'file\turl\tstatus\ttitle\n',
  cdx: ' CDX N b a m s k r M S V g\n',
};

/** A list of URLs on the disk. */
export interface UrlForm {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * The URLs of an index as lines: alone, as rows of four columns with a quoted one, as records of
 * HPLT's metadata, which have the URL in `u`, as indexes of archives, or as the log of their
 * servers. Written on the first request.
 */
export function provideForm(
  archive: GeneratedArchive,
  plan: CapturePlan,
  rows: number,
  form: LineForm,
): UrlForm {
  const path = `${archive.directory}/index-${rows}-rows.${form}`;
  if (!existsSync(path)) {
    const file = new ChunkedFile(`${path}.tmp`);
    const write = WRITERS[form];
    file.write(HEADERS[form] ?? '');
    let place = 0;
    for (const row of indexRows(plan, rows)) file.write(`${write(row, place++)}\n`);
    file.close();
    renameSync(`${path}.tmp`, path);
  }
  return { path, rows, bytes: statSync(path).size };
}

const WRITERS: Readonly<Record<LineForm, (row: IndexRow, place: number) => string>> = {
  txt: ({ url }) => url,
  csv: ({ url, values }) =>
    `${String(values[FILE]).slice(-34)},${quotedIfNeeded(url)},${values[STATUS]},"${values[MIME]}, ""${values[2]}"""`,
  tsv: ({ url, values }) =>
    `${String(values[FILE]).slice(-34)}\t${url}\t${values[STATUS]}\t${values[MIME]} ${values[2]}`,
  ndjson: ({ url, values }) =>
    JSON.stringify({
      f: values[FILE],
      o: values[18],
      s: values[19],
      u: url,
      c: values[MIME],
      ts: values[TIME],
    }),
  cdx: ({ url, values }) =>
    `${values[KEY]} ${timeOf(values)} ${url} ${values[MIME]} ${values[STATUS]} ${values[DIGEST]} - - ${values[LENGTH]} ${values[OFFSET]} ${values[FILE]}`,
  cdxj: ({ url, values }) =>
    `${values[KEY]} ${timeOf(values)} {"url": ${JSON.stringify(url)}, "mime": "${values[MIME]}", "status": "${values[STATUS]}", "digest": "${values[DIGEST]}", "length": "${values[LENGTH]}", "offset": "${values[OFFSET]}", "filename": "${values[FILE]}"}`,
  log: ({ url }, place) => {
    const { protocol, hostname, port, origin } = new URL(url);
    const server = `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
    // A log does not say that another port is one of https. A query may be empty.
    const target = port === '' ? url.slice(origin.length) : url;
    const [userAgent] = LOG_AGENTS[place % LOG_AGENTS.length] ?? [];
    const client = `192.0.2.${place % 254}`;
    const escaped = target.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
    return `${server} ${client} - - [10/Oct/2025:13:55:36 -0700] "GET ${escaped} HTTP/1.1" 200 ${5120 + (place % 999)} "-" "${userAgent}"`;
  },
};

/** The time of a row in 14 digits. */
function timeOf(values: IndexRow['values']): string {
  return new Date(Number(values[TIME])).toISOString().slice(0, 19).replaceAll(/\D/g, '');
}

/** Sites of an index, as prefixes of its keys. */
export interface SiteList {
  readonly path: string;
  /** Rows of the index on these sites and the sites below them. */
  readonly kept: number;
}

/** Every second site of an index. */
export function provideSites(archive: GeneratedArchive, plan: CapturePlan, rows: number): SiteList {
  const keys = Array.from(indexRows(plan, rows), ({ values }) => String(values[KEY]).split(')')[0]);
  const sites = new Set([...new Set(keys)].filter((_, place) => place % 2 === 0));
  const path = `${archive.directory}/index-${rows}-rows.sites`;
  writeFileSync(path, [...sites].map((site) => `${site})/\n`).join(''));
  const isKept = (key = ''): boolean => {
    const labels = key.split(',');
    return labels.some((_, last) => sites.has(labels.slice(0, last + 1).join(',')));
  };
  return { path, kept: keys.filter(isKept).length };
}

/**
 * What a program needs to judge the log: for each authority a line of JSON with the status and the
 * text of its robots.txt. Written on the first request.
 *
 * @returns the file
 */
export function provideLogRobots(
  archive: GeneratedArchive,
  plan: CapturePlan,
  rows: number,
): string {
  const path = `${archive.directory}/index-${rows}-rows.robots`;
  if (existsSync(path)) return path;
  const file = new ChunkedFile(`${path}.tmp`);
  const known = new Set<string>();
  for (const { authority, answer } of indexRows(plan, rows)) {
    if (known.has(authority)) continue;
    known.add(authority);
    const said = answer();
    const body = said.kind === 'body' ? Buffer.from(said.body).toString() : undefined;
    file.write(`${JSON.stringify({ authority, kind: said.kind, body })}\n`);
  }
  file.close();
  renameSync(`${path}.tmp`, path);
  return path;
}

function quotedIfNeeded(field: string): string {
  return /[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
