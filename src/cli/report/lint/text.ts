import { printable } from '../../../control-characters.js';
import type { RobotsDocument } from '../../../lint/document.js';
import type { Finding } from '../../../lint/finding.js';
import type { LintReport } from '../../../lint/lint.js';
import type { Severity } from '../../../lint/rules.js';
import type { Paint } from '../colour.js';
import { formatNumber } from '../numbers.js';
import { widthOnTerminal } from '../width-on-terminal.js';
import type { FindingWriter, LintedFile } from './finding-writer.js';
import { type Place, placeOf } from './place.js';

/** Number of characters of a line that are shown. */
const SHOWN_CHARACTERS = 100;

/** Characters before the place that are shown in a long line. */
const SHOWN_BEFORE = 40;

/** What is shown for a tab. */
const TAB_SPACES = '    ';

/** Findings like those of a compiler: the place, the message, the line with carets, the fix. */
export class TextFindings implements FindingWriter {
  readonly #paint: Paint;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  begin(): string {
    return '';
  }

  file(file: LintedFile, { document, findings, counts }: LintReport): string {
    const name = printable(nameOf(file));
    const listed = new Map<string, number>();
    let text = '';
    for (const finding of findings) {
      text += this.#finding(name, finding, document);
      listed.set(finding.rule, (listed.get(finding.rule) ?? 0) + 1);
    }
    for (const [rule, count] of counts) {
      const further = count - (listed.get(rule) ?? 0);
      if (further > 0) text += `${name}: ${formatNumber(further)} more of ${rule}, not listed\n`;
    }
    return text;
  }

  end(): string {
    return '';
  }

  #finding(name: string, finding: Finding, document: RobotsDocument): string {
    const { rule, severity, message, fix } = finding;
    const place = placeOf(document, finding);
    const where = place === undefined ? name : `${name}:${place.line}:${place.column}`;
    const head = `${this.#paint('strong', `${where}:`)} ${this.#paint(severity, `${severity}:`)} ${printable(message)} ${this.#paint('faint', `[${rule}]`)}\n`;
    const gutter = place === undefined ? '' : String(place.line);
    const margin = ' '.repeat(gutter.length);
    const source =
      place === undefined ? '' : this.#source(finding, place, document, gutter, severity);
    return `${head}${source}  ${margin} = fix: ${printable(fix)}\n`;
  }

  /** The line, and carets below the place. */
  #source(
    finding: Finding,
    place: Place,
    document: RobotsDocument,
    gutter: string,
    severity: Severity,
  ): string {
    const line = document.lines[place.line - 1];
    if (line === undefined) return '';
    const whole = document.text(Math.min(line.start, finding.start), document.lineEnd(line));
    const at = place.column - 1;
    const isLong = whole.length > SHOWN_CHARACTERS;
    const from = isLong ? characterStart(whole, Math.max(0, at - SHOWN_BEFORE)) : 0;
    const to = characterStart(whole, Math.min(whole.length, from + SHOWN_CHARACTERS));
    const end = Math.max(at, Math.min(place.endColumn - 1, to));
    const before = `${from > 0 ? '…' : ''}${shown(whole.slice(from, at))}`;
    const marked = shown(whole.slice(at, end));
    const after = `${shown(whole.slice(end, to))}${to < whole.length ? '…' : ''}`;
    const carets = '^'.repeat(Math.max(1, widthOnTerminal(marked)));
    const margin = ' '.repeat(gutter.length);
    return (
      `  ${gutter} | ${before}${marked}${after}`.trimEnd() +
      `\n  ${margin} | ${' '.repeat(widthOnTerminal(before))}${this.#paint(severity, carets)}\n`
    );
  }
}

/** A part of a line as it is shown. Tabs become spaces, so that the carets stand below. */
function shown(text: string): string {
  return printable(text.replaceAll('\t', TAB_SPACES));
}

/** The greatest offset up to `at` that does not split a surrogate pair. */
function characterStart(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

/** `robots.txt`, or `https://example.com (robots.ndjson:12)`. */
function nameOf({ path, record, authority }: LintedFile): string {
  return record === undefined ? path : `${authority ?? ''} (${path}:${record})`;
}
