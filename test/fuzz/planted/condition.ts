import { Fault } from '../../../fuzz/fault.js';
import type { Target } from '../../../fuzz/target.js';
import { depthOf } from './depth.js';

/**
 * Fails only on inputs that begin with five given bytes: without coverage, one of 2^40 random
 * inputs.
 */
export const target: Target = {
  name: 'condition',
  summary: 'a fault after five conditions',
  maxBytes: 8,
  seeds: ['a'],
  dictionary: [],
  generate: () => 'b',
  piece: () => 'c',
  check: () => (input) => {
    if (depthOf(input) === 5) throw new Fault('all five');
  },
};
