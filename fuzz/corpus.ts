import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf, charactersOf } from '../oracle/bytes.js';

/**
 * The file of a target's corpus: one JSON string on each line, one character for each byte, in
 * ASCII.
 */
function fileOf(target: string): string {
  return fileURLToPath(new URL(`../fixtures/fuzz/${target}.ndjson`, import.meta.url));
}

/** The stored inputs of a target; none if there is no file yet. */
export function readCorpus(target: string): Uint8Array[] {
  let text: string;
  try {
    text = readFileSync(fileOf(target), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => bytesOf(JSON.parse(line) as string));
}

/** Stores inputs, the shortest first. */
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
