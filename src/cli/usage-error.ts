import { RobotsFilterError } from '../base/errors.js';

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
} /** Exit code of a command that succeeded, whatever the verdicts. */
export const SUCCESS = 0;

/** Exit code of `check` if some URL is not allowed. */
export const NOT_ALLOWED = 1;

/** Exit code of `diff --exit-code` if there is a difference. */
export const DIFFERENT = 1;

/** Exit code of `lint` if there are errors, or more warnings than `--max-warnings`. */
export const FOUND = 1;

/** Exit code of an error, as in grep and diff. */
export const FAILURE = 2;

/** The commands in addition to the filter, which has no name. */
export const COMMAND_NAMES = [
  'compile',
  'fetch',
  'check',
  'lint',
  'inspect',
  'audit',
  'records',
  'diff',
  'shard',
  'captures',
  'agents',
  'serve',
  'completion',
] as const;
