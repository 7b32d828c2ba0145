/** Writes findings of `lint`: text, JSON, SARIF, or counts. */

import { printable, printableJson } from '../../base/control-characters.js';
import { docsPage } from '../../base/errors.js';
import type { RobotsDocument } from '../../lint/document.js';
import type { Finding, Span } from '../../lint/finding.js';
import type { LintReport } from '../../lint/lint.js';
import { LINT_RULE_NAMES, type LintRuleName, lintRule, type Severity } from '../../lint/rules.js';
import { formatNumber, type Paint, paintOf, rowsText, widthOnTerminal } from '../text.js';

/** A file whose findings are written. */
export interface LintedFile {
  /** The path of the file, of the record's file, or `standard input`. */
  readonly path: string;
  /** Number of the record in its file, from 1; `undefined` for a file of its own. */
  readonly record: number | undefined;
  /** The scheme, host and port of the file; `undefined` if they are unknown. */
  readonly authority: string | undefined;
}

/** Formats of the findings of `lint`. */
export type LintFormat = 'text' | 'json' | 'sarif' | 'summary';

/** The totals of a run. */
interface LintTotals {
  readonly files: number;
  readonly rules: ReadonlyMap<LintRuleName, { readonly findings: number; readonly files: number }>;
}

/** A format of findings, as pieces of the output. */
export interface FindingWriter {
  begin(): string;
  file(file: LintedFile, report: LintReport): string;
  end(totals: LintTotals): string;
}

/**
 * The writer of a format.
 *
 * @param version of the program
 */
export function findingWriter(format: LintFormat, version: string): FindingWriter {
  switch (format) {
    case 'json':
      return jsonFindings;
    case 'sarif':
      return new SarifFindings(version);
    case 'summary':
      return summaryFindings;
    case 'text':
      return new TextFindings(paintOf());
  }
}

/** A place for people and editors. */
interface Place {
  readonly line: number;
  /** Columns count UTF-16 code units, from 1. `endColumn` is the first one after the place. */
  readonly column: number;
  readonly endColumn: number;
}

/** The place of a finding; `undefined` for the whole file. */
function placeOf(document: RobotsDocument, span: Span): Place | undefined {
  const { line, start, end } = span;
  if (line === 0) return undefined;
  const begin = Math.min(document.lines[line - 1]?.start ?? start, start);
  const column = document.text(begin, start).length + 1;
  const length = document.text(start, end).length;
  return { line, column, endColumn: column + length };
}

/** Number of characters of a line that are shown. */
const SHOWN_CHARACTERS = 100;

/** Characters before the place that are shown in a long line. */
const SHOWN_BEFORE = 40;

/** What is shown for a tab. */
const TAB_SPACES = '    ';

/** Findings like those of a compiler: the place, the message, the line with carets, the fix. */
class TextFindings implements FindingWriter {
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

/** Findings as JSON objects, one on a line. */
const jsonFindings: FindingWriter = {
  begin: () => '',
  file({ path, record, authority }: LintedFile, { document, findings, counts }: LintReport) {
    const file = {
      file: path,
      ...(record === undefined ? {} : { record }),
      ...(authority === undefined ? {} : { authority }),
    };
    const left = new Map(counts);
    let text = '';
    for (const finding of findings) {
      const { rule, severity, message, fix } = finding;
      left.set(rule, (left.get(rule) ?? 0) - 1);
      const place = placeOf(document, finding);
      text += `${printableJson({ ...file, ...place, rule, severity, message, fix })}\n`;
    }
    for (const [rule, further] of left) {
      if (further > 0) text += `${printableJson({ ...file, rule, notListed: further })}\n`;
    }
    return text;
  },
  end: () => '',
};

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const HOME = 'https://github.com/robots-filter/robots-filter';

/** Findings as one SARIF 2.1.0 log, written piece by piece. */
class SarifFindings implements FindingWriter {
  readonly #version: string;
  #isFirst = true;

  /** @param version of the program */
  constructor(version: string) {
    this.#version = version;
  }

  begin(): string {
    const rules = LINT_RULE_NAMES.map((id) => {
      const { severity, description } = lintRule(id);
      return {
        id,
        shortDescription: { text: description },
        helpUri: docsPage(`lint.md#${id}`),
        defaultConfiguration: { level: severity },
      };
    });
    const driver = { name: 'robots-filter', version: this.#version, informationUri: HOME, rules };
    return (
      `{"$schema":"${SCHEMA}","version":"2.1.0","runs":[{"tool":{"driver":${printableJson(driver)}},` +
      '"columnKind":"utf16CodeUnits","results":['
    );
  }

  file(file: LintedFile, report: LintReport): string {
    let text = '';
    for (const finding of report.findings) {
      text += `${this.#isFirst ? '' : ','}\n${printableJson(resultOf(file, finding, report))}`;
      this.#isFirst = false;
    }
    return text;
  }

  end(): string {
    return '\n]}]}\n';
  }
}

function resultOf(
  { path, record, authority }: LintedFile,
  finding: Finding,
  { document }: LintReport,
) {
  const { rule, severity, message, fix } = finding;
  const place = placeOf(document, finding);
  // The lines of a robots.txt in a record are not those of the record's file.
  const region =
    place === undefined || record !== undefined
      ? {}
      : {
          region: {
            startLine: place.line,
            startColumn: place.column,
            endColumn: place.endColumn,
          },
        };
  return {
    ruleId: rule,
    ruleIndex: LINT_RULE_NAMES.indexOf(rule),
    level: severity,
    message: { text: `${message} Fix: ${fix}` },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: uriOf(path) }, ...region },
        ...(authority === undefined
          ? {}
          : { logicalLocations: [logicalLocation(authority, place)] }),
      },
    ],
  };
}

/** `https://a.example/robots.txt:2:11`. */
function logicalLocation(authority: string, place: Place | undefined) {
  const at = place === undefined ? '' : `:${place.line}:${place.column}`;
  return { name: authority, fullyQualifiedName: `${authority}/robots.txt${at}` };
}

/** A relative or absolute path as a URI reference (RFC 3986 section 4.1). */
function uriOf(path: string): string {
  const encoded = path
    .split('/')
    .map((part) => encodeURIComponent(part))
    .join('/');
  return path.startsWith('/') ? `file://${encoded}` : encoded;
}

/** Only the totals: RULE, SEVERITY, FINDINGS and FILES of each rule that was found. */
const summaryFindings: FindingWriter = {
  begin: () => '',
  file: () => '',
  end({ rules }: LintTotals) {
    const rows = LINT_RULE_NAMES.flatMap((rule) => {
      const total = rules.get(rule);
      if (total === undefined) return [];
      return [[rule, lintRule(rule).severity, String(total.findings), String(total.files)]];
    });
    return rowsText(rows);
  },
};
