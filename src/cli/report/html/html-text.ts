/** Escapes a text for HTML, in elements and in quoted attributes. */
export function html(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Number of columns above which their headings stand upright. */
const MANY_COLUMNS = 10;

/**
 * A table of HTML whose first column has the headings of the rows; cells are HTML.
 *
 * @param kind `numbers` are aligned at the right; a `grid` has a coloured cell for each agent
 */
export function htmlTable(
  kind: 'numbers' | 'words' | 'grid',
  caption: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const head = header.map((cell) => `<th scope="col">${html(cell)}</th>`).join('');
  const body = rows.map(([first = '', ...cells]) => {
    const rest = cells.map((cell) => `<td>${cell}</td>`).join('');
    return `<tr><th scope="row">${first}</th>${rest}</tr>`;
  });
  const many = kind === 'grid' && header.length > MANY_COLUMNS ? ' many' : '';
  // The wrapper can be focused, so that the keyboard scrolls it.
  return `<div class="scroll" tabindex="0" role="region" aria-label="${html(caption)}"><table class="${kind}${many}">
<caption>${html(caption)}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body.join('\n')}
</tbody></table></div>`;
}
