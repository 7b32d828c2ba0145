import type { Format } from '../format.js';

/** One URL per line: whatever no other format recognises. */
export const text: Format = { name: 'text', recognise: () => true };
