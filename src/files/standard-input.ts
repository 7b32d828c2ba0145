/** The path that stands for standard input. */
export const STANDARD_INPUT = '-';

/** How messages name an input. */
export function inputName(path: string): string {
  return path === STANDARD_INPUT ? 'standard input' : path;
}
