import type { Plugin } from 'rolldown';

/**
 * Writes characters beyond ASCII as escapes: V8 holds a file with any of them in two bytes for each
 * character, and takes a third longer to parse it. They stand in texts, templates and regular
 * expressions only, where the escape means the same; test/package.test.ts asserts that no file has
 * one.
 */
export function asciiOnly(): Plugin {
  return {
    name: 'ascii-only',
    // The minifier, which comes after renderChunk, writes the characters themselves again.
    generateBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === 'chunk') file.code = file.code.replaceAll(/[^\0-\x7f]/g, escaped);
      }
    },
  };
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
