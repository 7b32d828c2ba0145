import type { RobotsRecord } from './compiled-robots.js';
import { GROUP_LINE, GROUP_OCTETS, ROBOTS_WIDE } from './format.js';
import type { TokenNumbers } from './token-numbers.js';

/** What a robots record with numbers of two octets can say and be. */
const MAX_NARROW = 0xffff;

/** Octets of a robots record in a table. */
export function robotsOctets(record: RobotsRecord, tokens: TokenNumbers): number {
  return octetsWith(isWide(record, tokens) ? 4 : 2, record);
}

/** Octets of a robots record whose numbers have so many. */
function octetsWith(width: number, record: RobotsRecord): number {
  return 1 + width + 2 * width * record.tokenCount + GROUP_OCTETS * record.allGroups;
}

function isWide(record: RobotsRecord, tokens: TokenNumbers): boolean {
  return tokens.count > MAX_NARROW || octetsWith(2, record) > MAX_NARROW;
}

/** The places of a record's tokens, so that their numbers in the table rise. */
function tokenPlaces(record: RobotsRecord, tokens: TokenNumbers): number[] {
  const places = Array.from({ length: record.tokenCount }, (_, place) => place);
  const numberAt = (place: number): number => tokens.number(record.token(place));
  return places.sort((a, b) => numberAt(a) - numberAt(b));
}

/** The automata that a robots record names, by their numbers, in its order; some of them maybe more than once. */
export function* automataOf(record: RobotsRecord, tokens: TokenNumbers): Iterable<number> {
  for (const place of tokenPlaces(record, tokens)) {
    const list = record.list(place);
    const groups = record.groupCount(list);
    for (let group = 0; group < groups; group++) {
      const automaton = record.automaton(list, group) - 1;
      if (automaton >= 0) yield automaton;
    }
  }
}

/**
 * Writes a robots record.
 *
 * @param start where it lies
 * @param automatonStart where an automaton lies, by its number
 */
export function writeRobots(
  record: RobotsRecord,
  out: DataView,
  start: number,
  tokens: TokenNumbers,
  automatonStart: (automaton: number) => number,
): void {
  const { tokenCount } = record;
  const wide = isWide(record, tokens);
  const width = wide ? 4 : 2;
  const writeWord = (at: number, word: number): void =>
    wide ? out.setUint32(at, word, true) : out.setUint16(at, word, true);
  out.setUint8(start, record.access | (wide ? ROBOTS_WIDE : 0));
  writeWord(start + 1, tokenCount);
  const numbers = start + 1 + width;
  let next = numbers + 2 * width * tokenCount;
  const listStarts = new Map<number, number>();
  tokenPlaces(record, tokens).forEach((place, index) => {
    const list = record.list(place);
    let at = listStarts.get(list);
    if (at === undefined) {
      at = next;
      listStarts.set(list, at);
      const groups = record.groupCount(list);
      for (let group = 0; group < groups; group++) {
        const automaton = record.automaton(list, group) - 1;
        if (automaton >= 0) out.setUint32(next, automatonStart(automaton), true);
        const more = group + 1 < groups ? 1 : 0;
        out.setUint32(next + GROUP_LINE, 2 * record.firstLine(list, group) + more, true);
        next += GROUP_OCTETS;
      }
    }
    writeWord(numbers + width * index, tokens.number(record.token(place)));
    writeWord(numbers + width * (tokenCount + index), at - start);
  });
}
