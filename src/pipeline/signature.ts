/** An encoding that is told by how its octets begin, other than UTF-8. */
interface Encoding {
  /** What such octets are: `gzip data`. */
  readonly name: string;
  /**
   * The command that undoes it, from standard input to standard output; `undefined` if nothing
   * does.
   */
  readonly remedy?: string;
}

/** What octets are that are neither UTF-8 text nor gzip. */
export interface Foreign extends Encoding {
  /** What to do with data in another format, as a sentence; `undefined` for an encoding. */
  readonly advice?: string;
}

/** RFC 1952 section 2.3.1: ID1 and ID2. Neither UTF-8 nor any text begins so. */
const GZIP = Uint8Array.of(0x1f, 0x8b);

interface Magic extends Foreign {
  readonly magic: readonly number[];
  /** Where the magic stands; default at the start. */
  readonly at?: number;
}

const COMPRESSIONS: readonly Magic[] = [
  { magic: [...GZIP], name: 'gzip data', remedy: 'gzip -dc' },
  { magic: [0x1f, 0x9d], name: 'data of compress', remedy: 'gzip -dc' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], name: 'zstd data', remedy: 'zstd -dc' },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], name: 'xz data', remedy: 'xz -dc' },
  { magic: [0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59], name: 'bzip2 data', remedy: 'bzip2 -dc' },
  { magic: [0x50, 0x4b, 0x03, 0x04], name: 'a zip archive', remedy: 'funzip' },
  { magic: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], name: 'a 7z archive', remedy: '7z e -si -so' },
  { magic: [0x04, 0x22, 0x4d, 0x18], name: 'lz4 data', remedy: 'lz4 -dc' },
  // RFC 1950 section 2.2, with the windows and levels that there are; 78 5E may be text.
  { magic: [0x78, 0x01], name: 'zlib data', remedy: 'zlib-flate -uncompress' },
  { magic: [0x78, 0x9c], name: 'zlib data', remedy: 'zlib-flate -uncompress' },
  { magic: [0x78, 0xda], name: 'zlib data', remedy: 'zlib-flate -uncompress' },
  // 8B is no UTF-8, so whoever takes it for such writes U+FFFD.
  { magic: [0x1f, 0xef, 0xbf, 0xbd, 0x08], name: 'gzip data that was decoded as UTF-8' },
];

const UTF_16 = { name: 'UTF-16 text', remedy: 'iconv -f UTF-16 -t UTF-8' };
const UTF_16_TEXTS: readonly Magic[] = [
  { magic: [0xff, 0xfe], ...UTF_16 },
  { magic: [0xfe, 0xff], ...UTF_16 },
];

const ENCODINGS = [...UTF_16_TEXTS, ...COMPRESSIONS];

const CONVERT = 'Convert it to NDJSON or text, a record a line.';

/** What DuckDB reads. */
const QUERY = `Convert it to NDJSON: duckdb -c "COPY (FROM 'FILE') TO '/dev/stdout' (FORMAT json)" | robots-filter ...`;

const ARROW =
  'Convert it to NDJSON: python3 -c "import pandas, sys; pandas.read_feather(sys.argv[1]).to_json(sys.stdout, orient=\'records\', lines=True)" FILE | robots-filter ...';

const WARC =
  'List its URLs: warcio index -f warc-target-uri FILE | robots-filter --url-field warc-target-uri ... Of robots.txt responses write NDJSON: {"url", "status", "robots_base64"} a line.';

/** Files of data, which are no text, or text of which no line is a record. */
const FORMATS: readonly Magic[] = [
  { magic: magicOf('WARC/0.'), name: 'a WARC file', advice: WARC },
  { magic: magicOf('WARC/1.'), name: 'a WARC file', advice: WARC },
  { magic: magicOf('PAR1'), name: 'a Parquet file', advice: QUERY },
  { magic: magicOf('PARE'), name: 'an encrypted Parquet file', advice: CONVERT },
  { magic: magicOf('ARROW1'), name: 'an Arrow file', advice: ARROW },
  { magic: magicOf('FEA1'), name: 'a Feather file', advice: ARROW },
  { magic: [0xff, 0xff, 0xff, 0xff], name: 'an Arrow stream', advice: CONVERT },
  // Of text that begins so, the next octet is hardly one of these: they begin a stripe or the
  // footer.
  { magic: magicOf('ORC\x08'), name: 'an ORC file', advice: CONVERT },
  { magic: magicOf('ORC\n'), name: 'an ORC file', advice: CONVERT },
  { magic: magicOf('ORC\x11'), name: 'an ORC file', advice: CONVERT },
  { magic: magicOf('Obj\x01'), name: 'an Avro file', advice: CONVERT },
  {
    magic: magicOf('RFTABLE\x1a'),
    name: 'a table of robots-filter',
    advice: 'Type: robots-filter --table FILE [files...]',
  },
  { magic: magicOf('SQLite format 3\0'), name: 'an SQLite database', advice: CONVERT },
  { magic: magicOf('%PDF-'), name: 'a PDF document', advice: CONVERT },
  { magic: magicOf('ustar'), at: 257, name: 'a tar archive', remedy: 'tar -xO' },
];

const ALL = [...ENCODINGS, ...FORMATS];

/** Octets by which all of these are told. */
export const TELLING_OCTETS = Math.max(...ALL.map(({ magic, at = 0 }) => at + magic.length));

/** Octets from which on a beginning is told from that of text. */
const LEADING = ALL.filter(({ at = 0 }) => at === 0);

function magicOf(text: string): number[] {
  return [...Buffer.from(text, 'latin1')];
}

/** Whether `head` begins with all of `magic`, or has it at another offset. */
export function startsWith(head: ArrayLike<number>, magic: ArrayLike<number>, offset = 0): boolean {
  if (head.length < offset + magic.length) return false;
  for (let at = 0; at < magic.length; at++) if (head[offset + at] !== magic[at]) return false;
  return true;
}

/** Whether octets begin as a gzip member does (RFC 1952). */
export function isGzip(head: Uint8Array): boolean {
  return startsWith(head, GZIP);
}

/**
 * Whether octets are too few to tell text from a compression or another format. They hold no whole
 * line then.
 */
export function mayBecomeForeign(head: Uint8Array): boolean {
  return LEADING.some(({ magic }) => head.length < magic.length && startsWith(magic, head));
}

/**
 * What the body of a robots.txt is, if it is compressed or of another format; `undefined` if it
 * does not look so.
 */
export function foreignOf(body: Uint8Array): Foreign | undefined {
  return find(COMPRESSIONS, body) ?? find(FORMATS, body);
}

function find(among: readonly Magic[], head: Uint8Array): Foreign | undefined {
  return among.find(({ magic, at = 0 }) => startsWith(head, magic, at));
}

/**
 * Says of an input that is neither UTF-8 nor gzip what it is, and what turns it into that;
 * `undefined` if it does not look so.
 *
 * @param decompressed whether the octets were in gzip data
 */
export function describeForeign(head: Uint8Array, decompressed: boolean): string | undefined {
  const foreign = find(ALL, head);
  if (foreign === undefined) return undefined;
  const { name, remedy } = foreign;
  const advice =
    foreign.advice ??
    (remedy === undefined
      ? 'Get it anew.'
      : `Send it through "${decompressed ? 'gzip -dc | ' : ''}${remedy}" and pipe the result in.`);
  return `is ${name}${decompressed ? ' in gzip data' : ''}; plain UTF-8 and gzip are read. ${advice}`;
}
