import type { Format } from '../format.js';

/** One URL per line: any input that no other format recognises. */
export const text: Format = { name: 'text', recognise: () => true };
