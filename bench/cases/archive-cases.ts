import { statSync } from 'node:fs';
import type { ArchiveLibrary } from '../competitors/warc-libraries.js';
import { quoted, runProgram, runShell } from '../measure/process.js';
import type { Case } from '../measure/runs.js';
import type { Filter } from '../program/filter.js';
import { assertEqual } from '../verify/assert-equal.js';

/** Files of captures: all forms of one set hold the same. */
export interface ArchiveForm {
  readonly id: string;
  /** The list of the files. */
  readonly list: string;
  readonly files: readonly string[];
  readonly captures: number;
  /** Bytes of the files. */
  readonly bytes: number;
  /** The command that decompresses a file to standard output. */
  readonly decompressor: string;
}

/** Compiles captures; the table must have the same size in all runs. */
export function archiveCase(filter: Filter, form: ArchiveForm, table: string): Case {
  let known: number | undefined;
  return {
    id: form.id,
    name: 'robots-filter compile --robots-dir robotstxt.paths -o t',
    kind: 'ours',
    records: form.captures,
    bytes: form.bytes,
    reads: form.files,
    async run() {
      const { seconds, peakBytes, tableBytes } = await filter.compile(form.list, table);
      known ??= tableBytes;
      assertEqual(`${form.id}: bytes of the table`, tableBytes, known);
      return { seconds, peakBytes };
    },
  };
}

/** Only decompressing the same files, two at a time, as a user could do with xargs. */
export function decompressCase(form: ArchiveForm): Case {
  const files = form.files.map(quoted).join(' ');
  const { decompressor } = form;
  return {
    id: `${form.id}-floor`,
    name: `ls FILES | xargs -P2 ${decompressor} | wc -c`,
    kind: 'floor',
    records: form.captures,
    bytes: form.bytes,
    reads: form.files,
    run: () =>
      runShell(`printf '%s\\n' ${files} | xargs -P2 -n 4 ${decompressor} | wc -c`, {
        watched: false,
      }),
  };
}

/** What is done with the URLs of archives. */
interface UrlsTask {
  readonly filter: Filter;
  readonly table: string;
  readonly agent: string;
  readonly form: ArchiveForm;
}

/** Judges the URL of each capture. */
export function urlsCase({ filter, table, agent, form }: UrlsTask): Case {
  const args = ['--table', table, '--agent', agent];
  return {
    ...urlsOf(form, 'urls', 'robots-filter --table t *.warc.gz > /dev/null', 'ours'),
    run: () => filter.runAlone(args, { paths: form.files }),
    async rehearse() {
      const run = await filter.runCounted(args, { paths: form.files });
      assertEqual('records of the archives', run.statistics.records, form.captures);
      return run;
    },
  };
}

/** Copies the records of each URL that may be fetched. */
export function copyCase({ filter, table, agent, form }: UrlsTask, output: string): Case {
  const args = ['--table', table, '--agent', agent, '--allowed', '-o', output];
  const name = 'robots-filter --table t --allowed -o allowed.warc.gz *.warc.gz';
  let known: number | undefined;
  return {
    ...urlsOf(form, 'copy', name, 'ours'),
    async run() {
      const run = await filter.runAlone(args, { paths: form.files });
      const { size } = statSync(output);
      known ??= size;
      assertEqual('bytes of the copy', size, known);
      return run;
    },
  };
}

/** Only decompressing the same files, one after another. */
export function urlsFloorCase(form: ArchiveForm): Case {
  const files = form.files.map(quoted).join(' ');
  return {
    ...urlsOf(form, 'urls-floor', 'zcat *.warc.gz | wc -c', 'floor'),
    run: () => runShell(`zcat ${files} | wc -c`, { watched: false }),
  };
}

/** A library that reads the same URLs, and decides none. */
export function urlsLibraryCase(library: ArchiveLibrary, form: ArchiveForm): Case {
  const { id, name, program, words, environment } = library;
  return {
    ...urlsOf(form, `urls-${id}`, name, 'competitor'),
    async run() {
      const args = [...words, id, ...form.files];
      const run = await runProgram(program, args, { output: 'keep', watched: false, environment });
      const { records } = JSON.parse(run.output) as { records: number };
      assertEqual(`records of ${id}`, records, form.captures);
      return run;
    },
  };
}

function urlsOf(
  { captures, bytes, files }: ArchiveForm,
  id: string,
  name: string,
  kind: Case['kind'],
): Omit<Case, 'run'> {
  return { id, name, kind, records: captures, bytes, reads: files };
}
