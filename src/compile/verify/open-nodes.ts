const INITIAL_ROOM = 64;

/**
 * The nodes on the way to the one at hand whose edges have not all been followed. No objects: a
 * trie may be as deep as its automaton is long, and what is kept of a node takes no more than a few
 * times its octets.
 */
export class OpenNodes {
  count = 0;
  /** Where the octets of its edges start, how many there are, and which is next. */
  edgesStart = new Uint32Array(INITIAL_ROOM);
  edges = new Uint8Array(INITIAL_ROOM);
  next = new Uint8Array(INITIAL_ROOM);
  /** Octets of a distance. */
  distanceOctets = new Uint8Array(INITIAL_ROOM);
  /** Where its first edge leads. */
  firstTarget = new Uint32Array(INITIAL_ROOM);
  /**
   * Octets on the way to it, its label included; and 1 where they can be shown as they are, else 0.
   */
  depth = new Uint32Array(INITIAL_ROOM);
  plain = new Uint8Array(INITIAL_ROOM);

  push(
    edgesStart: number,
    edges: number,
    distanceOctets: number,
    firstTarget: number,
    depth: number,
    isPlain: boolean,
  ): void {
    const place = this.count++;
    if (place === this.edges.length) this.#grow();
    this.edgesStart[place] = edgesStart;
    this.edges[place] = edges;
    this.next[place] = 0;
    this.distanceOctets[place] = distanceOctets;
    this.firstTarget[place] = firstTarget;
    this.depth[place] = depth;
    this.plain[place] = isPlain ? 1 : 0;
  }

  #grow(): void {
    this.edgesStart = longer(this.edgesStart);
    this.edges = longer(this.edges);
    this.next = longer(this.next);
    this.distanceOctets = longer(this.distanceOctets);
    this.firstTarget = longer(this.firstTarget);
    this.depth = longer(this.depth);
    this.plain = longer(this.plain);
  }
}

function longer<T extends Uint8Array | Uint32Array>(array: T): T {
  // The constructor of the array's own class.
  const grown = new (array.constructor as new (length: number) => T)(2 * array.length);
  grown.set(array);
  return grown;
}
