import type { PartMerger } from '../../compile/parallel/part-merger.js';
import type { CompiledPart } from './part-compiler.js';

/** A compiled part, and the merger that has received it. */
export interface MergeablePart {
  readonly compiled: CompiledPart;
  readonly merger: PartMerger;
}
