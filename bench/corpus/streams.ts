/** The streams of random numbers, so that more hosts or URLs leave the rest alone. */
export const STREAM = { words: 1, hosts: 2, bodies: 3, order: 4, urls: 5, records: 6 } as const;
