/** @throws Error that says what differs */
export function assertEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what}: ${actual}, which should be ${expected}`);
}
