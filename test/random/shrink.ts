/** Smaller variants of a text: without one line, or without a few characters. */
function* smaller(text: string): Generator<string> {
  const lines = text.split('\n');
  for (let index = 0; index < lines.length && lines.length > 1; index++) {
    yield lines.filter((_line, other) => other !== index).join('\n');
  }
  for (let length = Math.max(1, text.length >> 1); length >= 1; length >>= 1) {
    for (let index = 0; index + length <= text.length; index++) {
      yield text.slice(0, index) + text.slice(index + length);
    }
  }
}

/**
 * Texts reduced by greedy dropping, such that all of them together still fail. `fails` must hold
 * for the given texts.
 */
export function shrink(
  texts: readonly string[],
  fails: (texts: readonly string[]) => boolean,
): readonly string[] {
  let smallest = texts;
  for (;;) {
    const next = firstSmaller(smallest, fails);
    if (next === undefined) return smallest;
    smallest = next;
  }
}

function firstSmaller(
  texts: readonly string[],
  fails: (texts: readonly string[]) => boolean,
): readonly string[] | undefined {
  for (const [index, text] of texts.entries()) {
    for (const candidate of smaller(text)) {
      const changed = texts.with(index, candidate);
      if (fails(changed)) return changed;
    }
  }
  return undefined;
}
