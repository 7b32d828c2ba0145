import { describe, expect, test } from 'vitest';
import { describeColumns, rowsFormat } from '../../../../src/pipeline/input/columns.js';
import { recogniseFormat } from '../../../../src/pipeline/input/formats.js';

const look = (text: string, isWhole = false) => {
  const head = Buffer.from(text, 'latin1');
  return describeColumns(head, isWhole, recogniseFormat(head));
};

const sites = ['a.com', 'www.b.org', 'c.net', 'shop.d.de', 'e.co.uk'];
const COLUMNS: Record<string, string> = {
  'header 1 row': 'url,status\nhttps://ex.com/a,200\n',
  'header semicolon': 'url;title\nhttps://ex.com/a;Hello\nhttps://ex.com/b;World\n',
  'header second': 'id,url\n1,https://ex.com/a\n',
  'header second, URL first': 'referer,url\nhttps://a.com/,https://ex.com/a\n',
  'header second, tabs': 'referer\turl\nhttps://a.com/\thttps://ex.com/a\n',
  'second column': '1,https://ex.com/a\n2,https://ex.com/b\n',
  'quoted second': '1,"https://ex.com/a"\n2,"https://ex.com/b"\n',
  'title,url': 'Hello world,https://ex.com/a\nFoo,https://ex.com/b\n',
  'multi;': `${sites.map((s, i) => `https://${s}/x${i};Title number ${i}`).join('\n')}\n`,
  'multi space': `${sites.map((s, i) => `https://${s}/x${i} ${200 + i}`).join('\n')}\n`,
  'multi spaces': `${sites.map((s, i) => `https://${s}/x${i}   text/html   ${200 + i}`).join('\n')}\n`,
  'status space':
    Array.from({ length: 9 }, (_, i) => `https://ex.com/p/${i} ${i % 3 ? 200 : 404}`).join('\n') +
    '\n',
  log:
    Array.from({ length: 4 }, (_, i) => `2024-01-0${i + 1} 200 https://ex.com/${i}`).join('\n') +
    '\n',
  bullets: '- https://a.com/\n- https://b.com/\n',
  tsv: 'https://a.com/\t1\nhttps://b.com/\t2\n',
  'tsv header': 'url\tstatus\nhttps://a.com/\t1\n',
  'crlf header': 'URL,Status Code\r\nhttps://a.com/,200\r\n',
  'newlines in quotes': 'url,note\nhttps://ex.com/a,"one\ntwo\nthree"\n',
  'newlines and quotes': 'id,url\n"1, ""a""\n,2",https://ex.com/a\n"3\n\n",https://ex.com/b\n',
  'newlines, tabs': '1\t"a\nb"\thttps://ex.com/a\n2\t"c\n\td"\thttps://ex.com/b\n',
  'newlines, semicolons': 'url;note\nhttps://ex.com/a;"one\ntwo"\n',
  'newline in the header': '"a\nb","url"\n"x\ny","https://ex.com/a"\n',
  'header alone': 'title,url\n',
  'tsv header alone': 'url\ttitle\n',
  'quoted header alone': '"url","title"\n',
  'quoted header': '"url","status"\n"https://a.com/","200"\n',
};
/** Lines that may be rows or URLs with commas. */
const DOUBTFUL: Record<string, string> = {
  'pdf,17': 'https://ex.com/a.pdf,17\nhttps://ex.com/b.pdf,18\nhttps://ex.com/c.pdf,19\n',
  multi: `${sites.map((s, i) => `https://${s}/x${i},${i * 37}`).join('\n')}\n`,
  'status one site':
    Array.from({ length: 9 }, (_, i) => `https://ex.com/p/${i},${i % 3 ? 200 : 404}`).join('\n') +
    '\n',
  'two urls': `${Array.from({ length: 4 }, (_, i) => `https://ex.com/p/${i},https://ex.com/`).join('\n')}\n`,
  'pages with versions': ['ls', 'cat', 'rm'].map((f) => `https://ex.com/${f}.php,v\n`).join(''),
  'numbered pages of many sites': sites.map((s) => `https://${s}/a/artykul,101\n`).join(''),
  'queries that end in numbers': sites
    .map((s) => `https://${s}/?q=a,404\n`)
    .join('')
    .repeat(2),
  'a comment first': `# pages, all of them\n${'https://ex.com/a.pdf,17\n'.repeat(3)}`,
};
const URLS: Record<string, string> = {
  plain: `${sites.map((s) => `https://${s}/`).join('\n')}\n`,
  'one comma': 'https://ex.com/a,17\n',
  'two commas': 'https://ex.com/a.html,17\nhttps://b.com/a.html,17\n',
  spiegel: `${Array.from(
    { length: 30 },
    (_, i) => `https://www.spiegel.de/politik/0,1518,${12345 + i},00.html`,
  ).join('\n')}\n`,
  onet: `${Array.from(
    { length: 30 },
    (_, i) => `https://wiadomosci.onet.pl/kraj/nazwa-${i},${i * 991}`,
  ).join('\n')}\n`,
  'forum page': `${Array.from({ length: 30 }, (_, i) => `https://forum.pl/temat,${i},1`).join('\n')}\n`,
  wiki: `${['en', 'de', 'fr', 'it']
    .map((l) => `https://${l}.wikipedia.org/wiki/Springfield,_Illinois`)
    .join('\n')}\n`,
  maps:
    ['com', 'de', 'nl', 'fr'].map((l) => `https://www.google.${l}/maps/@52.1,4.3,15z`).join('\n') +
    '\n',
  cloudinary: `${Array.from(
    { length: 9 },
    (_, i) => `https://res.cloudinary.com/x/w_200,h_300/v${i}.jpg`,
  ).join('\n')}\n`,
  jsessionid: `${sites.map((s, i) => `https://${s}/x;jsessionid=AB${i}`).join('\n')}\n`,
  entities: `${sites.map((s, i) => `https://${s}/x?a=1&amp;b=${i}`).join('\n')}\n`,
  'index of': `${Array.from({ length: 9 }, (_, i) => `https://ex.com/My File, part ${i}.mp3`).join('\n')}\n`,
  'index of 2': `${Array.from({ length: 9 }, (_, i) => `https://ex.com/Chapter ${i}`).join('\n')}\n`,
  'comment first': '# my urls, all of them\nhttps://a.com/\nhttps://b.com/\n',
  garbage: 'a,b\nc,d\ne,f\n',
  'an open quote': 'https://ex.com/a,"b\nhttps://ex.com/c\nhttps://ex.com/d"\n',
  'names of columns with spaces': 'page one\n',
  'no scheme': 'example.com,1\nexample.org,2\n',
  empty: '',
  numbers: '1\n2\n3\n',
  'one tab': 'https://ex.com/a.pdf\t17\n',
  'URLs of other spellings':
    'http:\\\\a.com\\x,https://b.com/\nhttp:c.com/x,https://d.com/\n'.repeat(2),
  mixed: 'https://a.com/x,1\nhttps://b.com/\nhttps://c.com/\nhttps://d.com/,2\n',
};

describe('a list in columns is recognised', () => {
  test.each(Object.entries(COLUMNS))('%s', (_, text) => {
    expect(look(text)).toMatch(
      /^looks like columns separated by \w+, not like one URL per line\. (?:Cut|Use|Convert) /,
    );
    expect(look(`\xef\xbb\xbf\n${text}`)).toBe(look(text));
  });

  test('the remedy names the column, and suggests a CSV reader for quoted fields', () => {
    expect(look('id;url\n1;https://ex.com/a\n')).toContain("cut -d';' -f2 FILE | robots-filter");
    expect(look('https://a.com/\t1\nhttps://b.com/\t2\n')).toContain('cut -f1 FILE | robots');
    expect(look('https://a.com/\t1\nhttps://b.com/\t2\n')).not.toContain('--input text');
    expect(look('"https://a.com/, b",1\n"https://b.com/",2\n')).toContain('Use --input csv.');
    expect(look('url,n\nhttps://a.com/,1\n')).toContain('use --input text');
  });

  test('despite a few broken rows', () => {
    const rows = Array.from({ length: 40 }, (_, index) => `${index},https://ex.com/${index}.pdf\n`);
    expect(look(rows.join(''))).toBeDefined();
    rows[7] = 'nothing\n';
    rows[9] = 'https://ex.com/b\n';
    expect(look(rows.join(''))).toBeDefined();
  });
});

describe('URLs and then cells after commas are a guess', () => {
  const rows = (text: string) => rowsFormat(Buffer.from(text, 'latin1'), true, 'text');

  test.each(Object.entries(DOUBTFUL))('%s', (_, text) => {
    expect(rows(text)).toEqual({ format: 'csv', isDoubtful: true });
    expect(look(text, true)).toBeUndefined();
    const named = text.replace(/^#.*\n/, '');
    const width = named.slice(0, named.indexOf('\n')).split(',').length;
    const header = `${['url', 'a', 'b'].slice(0, width).join(',')}\n`;
    expect(rows(header + named)).toEqual({ format: 'csv', isDoubtful: false });
    const quoted = named.replace(/^([^,]*)/gm, (url) => (url === '' ? '' : `"${url}"`));
    expect(rows(quoted)).toEqual({ format: 'csv', isDoubtful: false });
  });
});

describe('a list of URLs is not recognised as columns', () => {
  test.each(Object.entries(URLS))('%s', (_, text) => {
    expect(look(text, true)).toBeUndefined();
  });

  test.each([
    ['JSON strings', '"https://a.com/" "https://b.com/"\n"https://c.com/" "https://d.com/"\n'],
    ['JSON with escapes', '"https://a.com/?q=\\"x,y\\""\n"https://b.com/?q=\\"x,y\\""\n'],
    ['NDJSON', '{"url":"https://a.com/","n":1}\n{"url":"https://b.com/","n":2}\n'],
    ['an array', '["https://a.com/",\n"https://b.com/"]\n'],
  ])('%s', (_, text) => {
    expect(look(text, true)).toBeUndefined();
  });

  test('long lines and any bytes are examined in bounded time', () => {
    expect(look(`https://a.com/${','.repeat(65_000)}\n`.repeat(2))).toBeUndefined();
    expect(look(`${'"'.repeat(65_000)}\n`)).toBeUndefined();
    expect(look(`https://a.com/${'&'.repeat(4_000)};\n`.repeat(16))).toBeUndefined();
    // A row of one line: rows are not cut.
    for (const delimiter of [';', ',', '\t', ' ', '";', '"",']) {
      expect(look(`"a"${delimiter.repeat(250_000)}\n`, true), delimiter).toBeUndefined();
    }
    const bytes = Array.from({ length: 65_536 }, (_, index) => (index * 7919 + (index >> 3)) & 255);
    expect(describeColumns(Uint8Array.from(bytes), true, 'text')).toBeUndefined();
  });
});
