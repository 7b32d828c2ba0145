import { charactersOf } from '../../oracle/bytes.js';
import { FrameScanner, ZstdError } from '../../src/files/zstd/frames.js';
import type { Random } from '../../test/random/random.js';
import { agree, Fault } from '../fault.js';
import type { Target } from '../target.js';

const MAGIC = '\x28\xb5\x2f\xfd';
const SKIPPABLE = '\x5a\x2a\x4d\x18';
const PIECES = [
  MAGIC,
  SKIPPABLE,
  '\x01\x00\x00',
  '\x00\x38',
  '\x20\x01',
  '\x0b\x00\x00a',
  '\x02\x00\x00\x00',
];

function frame(random: Random): string {
  const descriptor = random.pick([
    '\x00\x38',
    '\x04\x38',
    '\x20\x02',
    '\x64\x02\x00',
    '\x01\x38\x00',
    '\x80\x38\x01\x00\x00\x00',
  ]);
  const blocks = random.run(
    ['\x10\x00\x00ab', '\x00\x00\x00', '\x1a\x00\x00x', '\x0c\x00\x00z'],
    0,
    4,
  );
  return (
    MAGIC +
    descriptor +
    blocks +
    random.pick(['\x01\x00\x00', '\x09\x00\x00b', '']) +
    random.pick(['', '\x01\x02\x03\x04'])
  );
}

/** The framing of zstd data. Frames and blocks must be the same for all sizes of chunks. */
export const target: Target = {
  name: 'zstd',
  summary: 'the framing of zstd data, against itself in other chunks',
  maxBytes: 4000,
  seeds: [
    `${MAGIC}\x00\x38\x01\x00\x00${SKIPPABLE}\x02\x00\x00\x00xy${MAGIC}\x04\x38\x19\x00\x00abc\x01\x02\x03\x04`,
    `${MAGIC}\x00\x89\x01\x00\x00`,
    `${MAGIC}\xe0\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00`,
    `${SKIPPABLE}\xff\xff\xff\xff`,
  ],
  dictionary: PIECES,
  generate: (random) => {
    let data = '';
    for (let left = random.between(0, 4); left > 0; left--) {
      data += random.chance(0.3) ? `${SKIPPABLE}\x03\x00\x00\x00xyz` : frame(random);
    }
    return data;
  },
  piece: (random) => random.pick(PIECES),
  check: () => (input) => {
    const whole = scanned(input, input.length);
    for (const size of [1, 2, 3, 7, 50]) {
      agree(
        `units of chunks of ${size}`,
        JSON.stringify(scanned(input, size)),
        JSON.stringify(whole),
      );
    }
    // Units and skippable frames are the input, in its order.
    let at = 0;
    const text = charactersOf(input);
    for (const unit of whole.units) {
      const found = text.indexOf(unit, at);
      if (found < 0) throw new Fault('a unit is not in the input after the unit before it');
      at = found + unit.length;
    }
  },
};

function scanned(input: Uint8Array, size: number): { units: string[]; error: string } {
  const scanner = new FrameScanner();
  const units: string[] = [];
  try {
    for (let at = 0; at < input.length; at += size) {
      for (const unit of scanner.scan(input.subarray(at, at + size)))
        units.push(charactersOf(unit));
    }
    scanner.end();
    return { units, error: '' };
  } catch (error) {
    if (!(error instanceof ZstdError)) throw error;
    return { units, error: error.message };
  }
}
