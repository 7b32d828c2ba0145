/** The path that stands for standard input. */
export const STANDARD_INPUT = '-';

/** The name of an input in messages. */
export function inputName(path: string): string {
  return path === STANDARD_INPUT ? 'standard input' : path;
}
