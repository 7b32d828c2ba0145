const INITIAL_ROOM = 64;

/**
 * The nodes on the path to the current one with edges that have not been followed. Arrays instead
 * of objects bound the memory: a trie may be as deep as its automaton is long.
 */
export class OpenNodes {
  count = 0;
  /** Start and number of the edges' bytes, and the index of the next edge. */
  edgesStart = new Uint32Array(INITIAL_ROOM);
  edges = new Uint8Array(INITIAL_ROOM);
  next = new Uint8Array(INITIAL_ROOM);
  /** Length of a distance. */
  distanceBytes = new Uint8Array(INITIAL_ROOM);
  /** The target of the first edge. */
  firstTarget = new Uint32Array(INITIAL_ROOM);
  /** Length of the path to the node, its label included; 1 if all of the path is plain, else 0. */
  depth = new Uint32Array(INITIAL_ROOM);
  plain = new Uint8Array(INITIAL_ROOM);

  push(
    edgesStart: number,
    edges: number,
    distanceBytes: number,
    firstTarget: number,
    depth: number,
    isPlain: boolean,
  ): void {
    const place = this.count++;
    if (place === this.edges.length) this.#grow();
    this.edgesStart[place] = edgesStart;
    this.edges[place] = edges;
    this.next[place] = 0;
    this.distanceBytes[place] = distanceBytes;
    this.firstTarget[place] = firstTarget;
    this.depth[place] = depth;
    this.plain[place] = isPlain ? 1 : 0;
  }

  #grow(): void {
    this.edgesStart = longer(this.edgesStart);
    this.edges = longer(this.edges);
    this.next = longer(this.next);
    this.distanceBytes = longer(this.distanceBytes);
    this.firstTarget = longer(this.firstTarget);
    this.depth = longer(this.depth);
    this.plain = longer(this.plain);
  }
}

function longer<T extends Uint8Array | Uint32Array>(array: T): T {
  // Both classes have this constructor.
  const grown = new (array.constructor as new (length: number) => T)(2 * array.length);
  grown.set(array);
  return grown;
}
