/** The words of a node that is planned: 64 bytes, one cache line. A node is its address. */

export const NODE_BYTES: usize = 64;

/** Stands for no item or no node. */
export const NONE: usize = 0;

/** The parent node; NONE for the root. */
export const PARENT = 0;
/** Address of the label, in its item's canonical form, and its length. */
export const LABEL = 4;
export const LABEL_BYTES = 8;
/** Number of edges. */
export const EDGES = 12;
/** Item of the prefix rule, or NONE; its form; offset of its text, if kept. */
export const RULE = 16;
export const FORM = 20;
export const TEXT = 24;
/** End of the node's blocks; they start where the previous node's end. */
export const BLOCKS_END = 28;
/** Length of the subtree. */
export const BYTES = 32;
/**
 * Total length of the subtrees below, and length of the greatest of them, whose edge is written
 * last.
 */
export const BELOW = 36;
export const GREATEST_BELOW = 40;
/** Width of the distances, in the word of GREATEST_BELOW. */
export const DISTANCE_WIDTH = 40;
/** The first node below, and the next sibling; NONE if there is none. */
export const FIRST_BELOW = 44;
export const NEXT = 48;
/** While writing: start of the edges' bytes, number of edges written, target of the first edge. */
export const EDGES_START = 52;
export const EDGES_WRITTEN = 56;
export const FIRST_TARGET = 60;
