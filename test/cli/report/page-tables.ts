/** The tables of a page, and other parts of it, as texts. */

export interface PageTable {
  readonly caption: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

/** The figures that a page embeds. */
export function figuresOf(page: string): unknown {
  const [, json = ''] =
    /<script type="application\/json" id="figures">(.*?)<\/script>/s.exec(page) ?? [];
  return JSON.parse(json);
}

/** The text of HTML without its tags. */
export function textOfHtml(html: string): string {
  return html.replaceAll(/<[^>]*>/g, '').replaceAll(/&[^;]*;/g, (entity) => {
    const character = ENTITIES[entity];
    if (character === undefined) throw new Error(`${entity} is an unknown entity`);
    return character;
  });
}

/** The texts of all elements with a name, in the order of the page. */
export function elements(page: string, name: string): string[] {
  const found = page.matchAll(new RegExp(`<${name}[ >].*?</${name}>`, 'gs'));
  return Array.from(found, ([html]) => html);
}

export function tablesOf(page: string): PageTable[] {
  return elements(page, 'table').map((table) => {
    const [header = [], ...rows] = elements(table, 'tr').map((row) =>
      Array.from(row.matchAll(/<(t[hd])[ >].*?<\/\1>/gs), ([cell]) => textOfHtml(cell)),
    );
    return { caption: elements(table, 'caption').map(textOfHtml).join(), header, rows };
  });
}

/** A table with its columns, and then its rows, in the order of their texts. */
export function sortedTable({ caption, header, rows }: PageTable): PageTable {
  const columns = header.map((text, index) => ({ text, index }));
  columns.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : a.index - b.index));
  const sorted = (row: readonly string[]) => columns.map(({ index }) => row[index] ?? '');
  return { caption, header: sorted(header), rows: rows.map(sorted).sort() };
}
