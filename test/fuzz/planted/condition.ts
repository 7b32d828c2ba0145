import { Fault, type Target } from '../../../fuzz/target.js';
import { depthOf } from './depth.js';

/**
 * Fails only on inputs that begin with five given octets: without coverage, one of 2^40 of those
 * that are drawn.
 */
export const target: Target = {
  name: 'condition',
  summary: 'a fault behind five conditions',
  maxOctets: 8,
  seeds: ['a'],
  dictionary: [],
  generate: () => 'b',
  piece: () => 'c',
  check: () => (input) => {
    if (depthOf(input) === 5) throw new Fault('all five');
  },
};
