const DIGITS = 'bcdefghijklmnopr';

/** Three octets for each number, none of them `a` or `Q`. */
export function window(number: number): string {
  return [number, number >> 4, number >> 8].map((half) => DIGITS[half & 15]).join('');
}

/** Rules that every `a` of a path looks like, and none of which matches a path that has its `Q` in front. */
export function looseRules(count: number): string {
  const rules = Array.from({ length: count }, (_, number) => `allow:*a${window(number)}a*Q`);
  return `user-agent: *\n${rules.join('\n')}\n`;
}

/** A path that holds every window of so many rules, but of no rule the octets. */
export function loosePath(count: number, octets: number): string {
  const windows = Array.from(
    { length: count },
    (_, number) => `${window(number)}a${window(number).slice(0, 2)}`,
  ).join('');
  return `/Q${windows}${'a'.repeat(octets)}`.slice(0, octets);
}
