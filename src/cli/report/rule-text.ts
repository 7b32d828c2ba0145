import type { TableRule } from '../../inspect/table-content.js';

/** `Disallow: /private`, with the pattern as written. */
export function ruleText({ allow, text }: TableRule): string {
  return `${allow ? 'Allow' : 'Disallow'}: ${plainText(text)}`;
}

/** A text that a table gives escaped as in a JSON string. */
export function plainText(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}
