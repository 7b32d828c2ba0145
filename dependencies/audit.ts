/** What a question to the registry came to: an answer without findings, one with them, or none. */
export type Finding =
  | { readonly kind: 'clean' }
  | { readonly kind: 'found'; readonly problems: readonly string[] }
  | { readonly kind: 'unanswered'; readonly reason: string };

/** What `npm … --json` printed. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Understands `npm audit --json`. npm exits with 1 both when there are vulnerabilities and when the
 * registry did not answer; only what it prints tells them apart, and only a whole report counts as
 * an answer.
 */
export function readAudit(printed: Printed): Finding {
  const report = parse(printed.stdout);
  const total = numberAt(report, 'metadata', 'vulnerabilities', 'total');
  const vulnerabilities = at(report, 'vulnerabilities');
  if (total === undefined || !isRecord(vulnerabilities)) return unanswered(report, printed);
  const problems = Object.entries(vulnerabilities).map(
    ([name, what]) => `${name}: ${String(at(what, 'severity'))}: ${titles(at(what, 'via'))}`,
  );
  if (problems.length === 0 && total > 0) problems.push(`${total} vulnerabilities`);
  return problems.length === 0 ? { kind: 'clean' } : { kind: 'found', problems };
}

/**
 * Understands `npm audit signatures --json`: whether each archive is the one that the registry
 * signed.
 */
export function readSignatures(printed: Printed): Finding {
  const report = parse(printed.stdout);
  const invalid = at(report, 'invalid');
  const missing = at(report, 'missing');
  if (!Array.isArray(invalid) || !Array.isArray(missing)) return unanswered(report, printed);
  const problems = [
    ...invalid.map((each) => `${nameOf(each)}: its signature or attestation is wrong`),
    ...missing.map((each) => `${nameOf(each)}: is not signed`),
  ];
  return problems.length === 0 ? { kind: 'clean' } : { kind: 'found', problems };
}

function unanswered(report: unknown, { stderr }: Printed): Finding {
  const said = at(report, 'message') ?? at(report, 'error', 'summary');
  const line = stderr.split('\n').find((text) => text.startsWith('npm error '));
  const reason = typeof said === 'string' && said !== '' ? said : line;
  return { kind: 'unanswered', reason: reason ?? 'npm printed no report' };
}

function titles(via: unknown): string {
  if (!Array.isArray(via)) return '';
  return via
    .map((each) => (typeof each === 'string' ? `by ${each}` : String(at(each, 'title'))))
    .join('; ');
}

function nameOf(each: unknown): string {
  return `${String(at(each, 'name'))}@${String(at(each, 'version'))}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  let inner = value;
  for (const key of keys) inner = isRecord(inner) ? inner[key] : undefined;
  return inner;
}

function numberAt(value: unknown, ...keys: readonly string[]): number | undefined {
  const found = at(value, ...keys);
  return typeof found === 'number' ? found : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
