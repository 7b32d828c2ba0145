/** How many of the first bytes are as required, each checked by a separate condition. */
export function depthOf(input: Uint8Array): number {
  let depth = 0;
  if (input[0] === 0x7b) {
    depth++;
    if (input[1] === 0x25) {
      depth++;
      if (input[2] === 0x5c) {
        depth++;
        if (input[3] === 0xed) {
          depth++;
          if (input[4] === 0x3b) {
            depth++;
          }
        }
      }
    }
  }
  return depth;
}
