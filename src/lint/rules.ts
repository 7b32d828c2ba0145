/**
 * How bad a finding is.
 *
 * - `error`: a line does not do what its author wrote.
 * - `warning`: a line may surprise its author, or some crawlers read it another way.
 * - `note`: a line is without effect, or worth a look.
 */
export type Severity = 'error' | 'warning' | 'note';

/** All severities, the worst first. */
export const SEVERITIES: readonly Severity[] = ['error', 'warning', 'note'];

/** What a rule of the linter looks for. */
interface LintRule {
  readonly severity: Severity;
  /** What the rule reports, in one sentence. */
  readonly description: string;
  /** Whether the rule is off unless it is asked for. */
  readonly opinion?: true;
}

function error(description: string): LintRule {
  return { severity: 'error', description };
}

function warning(description: string): LintRule {
  return { severity: 'warning', description };
}

function note(description: string): LintRule {
  return { severity: 'note', description };
}

/** All rules of the linter by their stable names, in the order of docs/lint.md. */
const LINT_RULES = {
  'another-format': error('The file is binary, compressed, JSON or of another format.'),
  html: error('The file is a web page.'),
  'utf-16': error('The file is UTF-16.'),
  'broken-byte-order-mark': error(
    'The byte order mark was encoded twice, and breaks the first line.',
  ),
  'byte-order-mark': warning('The file begins with a byte order mark.'),
  'too-large': error('The file is longer than 500 KiB, and crawlers may ignore the rest.'),
  'not-utf-8': warning('Records are not UTF-8.'),
  nul: error('A line holds a NUL.'),
  'long-line': warning('A line is so long that Google ignores its end.'),

  'misspelt-record': error('The key of a record is misspelt.'),
  'unknown-record': note('The key of a record is unknown.'),
  'unsupported-record': error('A record such as Noindex, which no crawler obeys.'),
  'missing-colon': error('A record has no colon.'),
  'not-a-record': warning('A line is neither a record nor a comment.'),
  'two-records-on-a-line': error('A line holds two records, and only the first counts.'),
  'rule-outside-group': error(
    'A rule or another line of a group comes before the first user-agent line.',
  ),
  'detached-record': warning('A line after a blank line belongs to the group of one crawler.'),
  'invisible-character': error('A value holds a character that editors do not show.'),
  'invalid-crawl-delay': error('A crawl-delay is not a number.'),
  'invalid-preference': error('A preference about the use of content does not parse.'),

  'no-product-token': error('A user-agent line names no crawler.'),
  'user-agent-header': error('A user-agent line holds a whole User-Agent header.'),
  'several-agents': error('A user-agent line names several crawlers, and only the first counts.'),
  'truncated-agent': warning('Only the beginning of a name is a product token.'),
  'misspelt-agent': warning('A user-agent line is one letter away from a known crawler.'),
  'duplicate-agent': note('A group names a crawler twice.'),
  'runaway-group': error('A user-agent line without rules runs into the next group.'),
  'group-without-rules': warning('A group without rules frees its crawlers from the rules of *.'),
  'rules-not-inherited': warning(
    'A named group has no rules of *, which its crawlers therefore do not obey.',
  ),
  'rules-not-repeated': note('A named group repeats most rules of *, and lacks others.'),
  'merged-groups': warning('Several groups name the same crawler, and count as one.'),
  'everything-denied': warning('All crawlers are denied everything.'),

  'pattern-without-slash': error('A pattern begins with neither "/" nor "*", and matches nothing.'),
  'url-as-pattern': error('A pattern is a whole URL, and matches nothing.'),
  'hash-in-pattern': error('A "#" within a pattern begins a comment, and cuts the pattern.'),
  'several-patterns': error('A rule names several paths, which are one pattern.'),
  'inner-dollar': warning('A "$" within a pattern is an ordinary character.'),
  'space-in-pattern': warning('A pattern holds white space.'),
  'looks-like-regex': warning('A pattern looks like a regular expression.'),
  'template-placeholder': error('A line holds a placeholder that no template engine filled in.'),
  'invalid-percent-encoding': note('A "%" is not followed by two hexadecimal digits.'),
  'profile-difference': warning('Profiles read a rule differently.'),
  'empty-rule': note('An empty rule has no effect beside others.'),
  'queries-denied': note('All URLs with a query are denied to all crawlers.'),

  'duplicate-rule': note('A rule matches the same paths as another one with the same verdict.'),
  'contradicting-rule': warning('A rule never decides: rules with the other verdict overrule it.'),
  'shadowed-rule': note('A rule never decides: others with the same verdict do.'),
  'analysis-limit': note('The file has too many wildcards to compare all rules.'),

  'relative-sitemap': error('A sitemap is not a whole URL.'),
  'invalid-sitemap': error('A sitemap is not an http or https URL.'),
  'unreachable-sitemap': error(
    'A sitemap is on localhost, at a private address or in an internal network.',
  ),
  'sitemap-of-another-host': note('A sitemap is on another host.'),

  'user-agent-suffix': {
    ...note('A user-agent line has a version or another mark after the product token.'),
    opinion: true,
  },
  'trailing-slash': {
    ...note('A denied path ends without "/", or with one that leaves out the path itself.'),
    opinion: true,
  },
  'assets-denied': {
    ...warning('Style sheets or scripts are denied, without which pages cannot be rendered.'),
    opinion: true,
  },
  'trailing-star': { ...note('A "*" at the end of a pattern changes nothing.'), opinion: true },
} as const satisfies Readonly<Record<string, LintRule>>;

/** The name of a rule of the linter. */
export type LintRuleName = keyof typeof LINT_RULES;

/** The names of all rules, in the order of docs/lint.md. */
export const LINT_RULE_NAMES = Object.keys(LINT_RULES) as readonly LintRuleName[];

/** The rule with a name. */
export function lintRule(name: LintRuleName): LintRule {
  return LINT_RULES[name];
}
