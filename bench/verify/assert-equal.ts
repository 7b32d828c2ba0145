/** @throws Error that names the difference */
export function assertEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: ${actual}; expected ${expected}`);
}
