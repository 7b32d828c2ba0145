import { existsSync, renameSync, statSync } from 'node:fs';
import type { CapturePlan } from '../corpus/capture-plan.js';
import { ChunkedFile } from '../corpus/chunked-file.js';
import { type IndexRow, indexRows } from '../corpus/index-rows.js';
import type { GeneratedArchive } from './archive-store.js';

/** Forms of a list of URLs that are lines of text. */
export const LINE_FORMS = ['txt', 'csv', 'tsv', 'ndjson'] as const;
export type LineForm = (typeof LINE_FORMS)[number];

/** The columns of CSV and TSV beside the URL, by their places in a row of the index. */
const STATUS = 11;
const MIME = 14;
const FILE = 17;

/** A list of URLs on the disk. */
export interface UrlForm {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * The URLs of an index as lines: alone, as rows of four columns with a quoted one, or as records of
 * HPLT's metadata, which have the URL in `u`. Written on the first request.
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
    if (form === 'csv') file.write('file,url,status,title\n');
    if (form === 'tsv') file.write('file\turl\tstatus\ttitle\n');
    for (const row of indexRows(plan, rows)) file.write(`${write(row)}\n`);
    file.close();
    renameSync(`${path}.tmp`, path);
  }
  return { path, rows, bytes: statSync(path).size };
}

const WRITERS: Readonly<Record<LineForm, (row: IndexRow) => string>> = {
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
      ts: values[10],
    }),
};

function quotedIfNeeded(field: string): string {
  return /[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}
