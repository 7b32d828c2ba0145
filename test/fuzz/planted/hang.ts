import type { Target } from '../../../fuzz/target.js';

/** Never ends on inputs that hold a `!`. */
export const target: Target = {
  name: 'hang',
  summary: 'a hang',
  maxBytes: 40,
  seeds: ['a'],
  dictionary: [],
  generate: () => 'b',
  piece: () => 'c',
  check: () => (input) => {
    let at = 0;
    while (at < input.length) if (input[at] !== 0x21) at++;
  },
};
