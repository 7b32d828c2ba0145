import { printableJson } from '../../../control-characters.js';
import { docsPage } from '../../../errors.js';
import type { Finding } from '../../../lint/finding.js';
import type { LintReport } from '../../../lint/lint.js';
import { LINT_RULE_NAMES, lintRule } from '../../../lint/rules.js';
import type { FindingWriter, LintedFile } from './finding-writer.js';
import { type Place, placeOf } from './place.js';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';
const HOME = 'https://github.com/robots-filter/robots-filter';

/** Findings as one SARIF 2.1.0 log, written piece by piece. */
export class SarifFindings implements FindingWriter {
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
