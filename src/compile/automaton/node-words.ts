/**
 * The words of a node in an AutomatonPlan: 64 bytes, one cache line. A node is identified by the
 * index of its first word.
 */
export const NODE_WORDS = 16;

/** The parent node; NONE for the root. */
export const PARENT = 0;
/** Start of the label in `OrderedRules.bytes`, and its length. */
export const LABEL = 1;
export const LABEL_BYTES = 2;
/** Number of edges. */
export const EDGES = 3;
/** Item of the prefix rule, or NONE; its form; offset of its text, if kept. */
export const RULE = 4;
export const FORM = 5;
export const TEXT = 6;
/** End of the node's blocks in `AutomatonPlan.blocks`; they start where the previous node's end. */
export const BLOCKS_END = 7;
/** Length of the subtree. */
export const BYTES = 8;
/**
 * Total length of the subtrees below, and length of the greatest of them, whose edge is written
 * last.
 */
export const BELOW = 9;
export const GREATEST_BELOW = 10;
/** Width of the distances, in the word of GREATEST_BELOW. */
export const DISTANCE_WIDTH = 10;
/** The first node below, and the next sibling; NONE if there is none. */
export const FIRST_BELOW = 11;
export const NEXT = 12;
/** While writing: start of the edges' bytes, number of edges written, target of the first edge. */
export const EDGES_START = 13;
export const EDGES_WRITTEN = 14;
export const FIRST_TARGET = 15;

/** Stands for no item or no node. */
export const NONE = -1;
