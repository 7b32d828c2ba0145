/** A key of a Hive partition and its value; `null` stands for no value. */
export type Partition = readonly [key: string, value: string | null];

/** The value that Hive and Spark write for no value. */
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';

/**
 * Finds the Hive partitions in the directories of a path: `crawl=CC-MAIN-2026-43/subset=warc/…`. If
 * a key comes twice, the innermost directory counts.
 */
export function partitionsOf(path: string): Partition[] {
  const partitions = new Map<string, string | null>();
  for (const name of path.split('/').slice(0, -1)) {
    if (!isPartition(name)) continue;
    const equals = name.indexOf('=');
    const value = unescaped(name.slice(equals + 1));
    partitions.set(unescaped(name.slice(0, equals)), value === NO_VALUE ? null : value);
  }
  return [...partitions];
}

/** Whether a directory of this name is a Hive partition: `crawl=CC-MAIN-2026-43`. */
export function isPartition(name: string): boolean {
  return name.indexOf('=') > 0;
}

/** Undoes percent-encoding, unless the name is not encoded. */
function unescaped(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
