/**
 * Maximum characters of a list in a row. Site owners choose how long their lists are, and rows
 * repeat them for each agent.
 */
const MOST_CHARACTERS = 4096;

/**
 * The texts of a list that a row has; `undefined` for an empty list. Of a list that is too long the
 * first ones are left, and a last one that says how many more there are.
 */
export function boundedList(texts: readonly string[]): readonly string[] | undefined {
  let characters = 0;
  const end = texts.findIndex((text, index) => {
    characters += text.length;
    return index > 0 && characters > MOST_CHARACTERS;
  });
  if (end < 0) return texts.length === 0 ? undefined : texts;
  return [...texts.slice(0, end), `\u2026 ${texts.length - end} more`];
}
