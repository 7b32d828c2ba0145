/** The targets, by name: each is a module that exports `target`. */
export const TARGETS: Readonly<Record<string, URL>> = Object.fromEntries(
  [
    'robots',
    'match',
    'url',
    'ndjson',
    'agents',
    'table',
    'warc',
    'warc-zstd',
    'csv',
    'log',
    'zstd',
    'parquet',
  ].map((name) => [name, new URL(`./${name}.ts`, import.meta.url)]),
);
