import { RobotsFilterError } from '../errors.js';

/** Characters that no shell interprets, beside letters and digits. */
const PLAIN = '_-+=@%:,./';

/** An error about the command line; the message says what to type instead. */
export function usageError(message: string): RobotsFilterError {
  return new RobotsFilterError('usage', message);
}

/** Words as they are typed into a shell, so that each remains one word. */
export function shellWords(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

function shellWord(word: string): string {
  const isPlain = [...word].every(
    (character) =>
      (character >= 'a' && character <= 'z') ||
      (character >= 'A' && character <= 'Z') ||
      (character >= '0' && character <= '9') ||
      PLAIN.includes(character),
  );
  return isPlain && word !== '' ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
