/**
 * Formats that are recognised only to be refused with advice. Read as text they would have no
 * rules, and so allow everything.
 */

import { COMPRESSIONS, magicsOf } from './compression.js';
import { findMagic, type Magic, magicOf, startsWith } from './magic.js';

/**
 * A format that is recognised only to refuse it with advice: data that is neither UTF-8 text nor in
 * a supported compression.
 */
export interface UnsupportedFormat extends Magic {
  /** The name of such data in messages: `xz data`. */
  readonly name: string;
  /** The command that decodes it, from standard input to standard output, if there is one. */
  readonly command?: string;
  /**
   * How to convert data of another format, as a sentence. Absent for a compression or an encoding.
   */
  readonly advice?: string;
}

const COMPRESSED: readonly UnsupportedFormat[] = [
  // These are supported as an input, but not as the body of a robots.txt, nor twice.
  ...COMPRESSIONS.flatMap((compression) =>
    magicsOf(compression).map((magic) => ({
      magic,
      name: `${compression.name} data`,
      command: compression.command,
    })),
  ),
  { magic: [0x1f, 0x9d], name: 'data of compress', command: 'gzip -dc' },
  { magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a], name: 'xz data', command: 'xz -dc' },
  { magic: [0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59], name: 'bzip2 data', command: 'bzip2 -dc' },
  { magic: [0x50, 0x4b, 0x03, 0x04], name: 'a zip archive', command: 'funzip' },
  { magic: [0x04, 0x22, 0x4d, 0x18], name: 'lz4 data', command: 'lz4 -dc' },
  // RFC 1950 section 2.2, in the usual window size and levels. 78 5E is left out: it may be text.
  { magic: [0x78, 0x01], name: 'zlib data', command: 'zlib-flate -uncompress' },
  { magic: [0x78, 0x9c], name: 'zlib data', command: 'zlib-flate -uncompress' },
  { magic: [0x78, 0xda], name: 'zlib data', command: 'zlib-flate -uncompress' },
  // A decoder replaces 8B, which is not UTF-8, by U+FFFD.
  { magic: [0x1f, 0xef, 0xbf, 0xbd, 0x08], name: 'gzip data that was decoded as UTF-8' },
];

/**
 * Magic bytes of compressions after a decoder has read them as UTF-8 or Latin-1, and an encoder has
 * written UTF-8. Some are short, so they mean something in binary data alone.
 */
export const MISDECODED: readonly UnsupportedFormat[] = COMPRESSED.flatMap(({ magic, name }) => {
  const bytes = Buffer.from(magic);
  if (!bytes.some((byte) => byte > 0x7f)) return [];
  // A last byte that begins a character would merge with the byte after it.
  const isWhole = (magic.at(-1) ?? 0) < 0xc2 || (magic.at(-1) ?? 0) > 0xf4;
  return [
    {
      magic: [...Buffer.from(bytes.toString('latin1'))],
      name: `${name} that was decoded as Latin-1`,
    },
    ...(isWhole
      ? [
          {
            magic: [...Buffer.from(bytes.toString('utf8'))],
            name: `${name} that was decoded as UTF-8`,
          },
        ]
      : []),
  ];
});

const UTF_16 = { name: 'UTF-16 text', command: 'iconv -f UTF-16 -t UTF-8' };
const ENCODED: readonly UnsupportedFormat[] = [
  { magic: [0xff, 0xfe], ...UTF_16 },
  { magic: [0xfe, 0xff], ...UTF_16 },
];

const CONVERT = 'Convert it to NDJSON or text, one record per line.';

/** Parquet is read by position: from a regular file, not compressed as a whole. */
const PARQUET =
  'Write it to a separate, uncompressed file whose name ends in .parquet, and name that file.';

const ARROW =
  'Convert it to NDJSON: python3 -c "import pandas, sys; pandas.read_feather(sys.argv[1]).to_json(sys.stdout, orient=\'records\', lines=True)" FILE | robots-filter ...';

const WARC =
  'Its URLs are read with --input auto or warc, and its robots.txt captures with --robots-dir FILE.warc or FILE.warc.gz.';

/** The beginning of an ARC file (version 1), the predecessor of WARC. */
export const ARC_MAGIC = magicOf('filedesc://');

/** How to convert an ARC file, as a sentence. */
export const ARC_ADVICE =
  'Convert it to WARC: warcio recompress FILE.arc.gz FILE.warc.gz. The robots.txt captures of FILE.warc.gz are read with --robots-dir.';

/** Its directory is at the end, so 7z reads no such archive from standard input. */
const SEVEN_ZIP = 'Type: 7z e -so FILE | robots-filter …';

const TAR = { name: 'a tar archive', command: 'tar -xOf -' };

/** Data formats: binary, or text whose lines are not records. */
const DATA: readonly UnsupportedFormat[] = [
  { magic: magicOf('WARC/0.'), name: 'a WARC file', advice: WARC },
  { magic: magicOf('WARC/1.'), name: 'a WARC file', advice: WARC },
  { magic: ARC_MAGIC, name: 'an ARC file', advice: ARC_ADVICE },
  { magic: magicOf('PAR1'), name: 'a Parquet file', advice: PARQUET },
  { magic: magicOf('PARE'), name: 'an encrypted Parquet file', advice: CONVERT },
  { magic: magicOf('ARROW1'), name: 'an Arrow file', advice: ARROW },
  { magic: magicOf('FEA1'), name: 'a Feather file', advice: ARROW },
  { magic: [0xff, 0xff, 0xff, 0xff], name: 'an Arrow stream', advice: CONVERT },
  // The fourth byte begins a stripe or the footer. It excludes text that begins with "ORC".
  { magic: magicOf('ORC\x08'), name: 'an ORC file', advice: CONVERT },
  { magic: magicOf('ORC\n'), name: 'an ORC file', advice: CONVERT },
  { magic: magicOf('ORC\x11'), name: 'an ORC file', advice: CONVERT },
  { magic: magicOf('Obj\x01'), name: 'an Avro file', advice: CONVERT },
  {
    magic: magicOf('RFTABLE\x1a'),
    name: 'a table of robots-filter',
    advice:
      'To judge by it, type: robots-filter --table FILE urls.txt. compile reads it from a file, not from a pipe',
  },
  { magic: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], name: 'a 7z archive', advice: SEVEN_ZIP },
  { magic: magicOf('SQLite format 3\0'), name: 'an SQLite database', advice: CONVERT },
  // The bytes after "ustar" exclude text with a word such as "mustard".
  { magic: magicOf('ustar\0'), at: 257, ...TAR },
  { magic: magicOf('ustar  \0'), at: 257, ...TAR },
];

/** No robots.txt either, but nobody puts rules into it: as a body, it is text without rules. */
const DOCUMENTS: readonly UnsupportedFormat[] = [
  { magic: magicOf('%PDF-'), name: 'a PDF document', advice: CONVERT },
];

const ALL = [...ENCODED, ...COMPRESSED, ...DATA, ...DOCUMENTS];

/** The number of first bytes that recognise every one of these formats. */
export const MAGIC_BYTES = Math.max(...ALL.map(({ magic, at = 0 }) => at + magic.length));

const LEADING = ALL.filter(({ at = 0 }) => at === 0);

/**
 * Whether `head` is the beginning of some magic bytes, so that only more bytes can tell it from
 * text. Such a head holds no whole line.
 */
export function isPartOfMagic(head: Uint8Array): boolean {
  return LEADING.some(({ magic }) => head.length < magic.length && startsWith(magic, head));
}

/** The format of a robots.txt body that is compressed or of a data format: it may hide rules. */
export function unsupportedBody(body: Uint8Array): UnsupportedFormat | undefined {
  return findMagic(COMPRESSED, body) ?? findMagic(DATA, body);
}

/**
 * Describes an input that cannot be read, and how to convert it; `undefined` if its first bytes
 * match no unsupported format.
 *
 * @param compression the compression that was undone to get `head`
 */
export function describeUnsupported(head: Uint8Array, compression?: string): string | undefined {
  const format = findMagic(ALL, head);
  if (format === undefined) return undefined;
  const { name, command, advice } = format;
  const outer = COMPRESSIONS.find((candidate) => candidate.name === compression);
  const pipe = outer === undefined ? '' : `${outer.command} | `;
  const remedy =
    advice ??
    (command === undefined
      ? 'Download it again.'
      : `Send it through "${pipe}${command}" and pipe the result in.`);
  const within = outer === undefined ? '' : ` in ${outer.name} data`;
  const supported = COMPRESSIONS.map((each) => each.name).join(' and ');
  return `is ${name}${within}; plain UTF-8, ${supported} are read. ${remedy}`;
}
