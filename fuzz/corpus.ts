import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The octets of a string of characters U+0000 to U+00FF. */
export function octetsOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

/** Octets as a string, one character each. */
export function charactersOf(octets: Uint8Array): string {
  return Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString('latin1');
}

/** The file of a target's corpus: a JSON string a line, one character an octet, in ASCII. */
function fileOf(target: string): string {
  return fileURLToPath(new URL(`../fixtures/fuzz/${target}.ndjson`, import.meta.url));
}

/** The inputs that are kept for a target; none if there is no file yet. */
export function readCorpus(target: string): Uint8Array[] {
  let text: string;
  try {
    text = readFileSync(fileOf(target), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => octetsOf(JSON.parse(line) as string));
}

/** Keeps inputs, the shortest first. */
export function writeCorpus(target: string, inputs: readonly Uint8Array[]): void {
  const sorted = [...inputs].sort((a, b) => a.length - b.length || Buffer.compare(a, b));
  const lines = sorted.map((input) => `${asciiString(charactersOf(input))}\n`);
  mkdirSync(dirname(fileOf(target)), { recursive: true });
  writeFileSync(fileOf(target), lines.join(''));
}

function asciiString(text: string): string {
  return Array.from(JSON.stringify(text), (character) => {
    const code = character.charCodeAt(0);
    return code < 0x7f ? character : `\\u${code.toString(16).padStart(4, '0')}`;
  }).join('');
}
