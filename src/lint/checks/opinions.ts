import { ASTERISK, SLASH } from '../../ascii.js';
import { type RuleLine, valueSpan } from '../document.js';
import { type CheckContext, quoted } from './check.js';

/** Ends of patterns that deny style sheets and scripts. */
const ASSET_ENDINGS = ['.css', '.js', '.css$', '.js$', '.css*', '.js*'];

/** Directories that hold them by convention. */
const ASSET_DIRECTORIES = new Set([
  'css',
  'js',
  'scripts',
  'styles',
  'assets',
  'static',
  'wp-includes',
]);

/** Checks that are matters of taste, and off unless they are asked for. */
export function checkOpinions(context: CheckContext): void {
  const { findings } = context;
  const wanted = (['trailing-slash', 'assets-denied', 'trailing-star'] as const).some((rule) =>
    findings.wants(rule),
  );
  if (!wanted) return;
  for (const { rules } of context.document.groups) {
    for (const rule of rules) {
      if (rule.pattern[0] !== SLASH && rule.pattern[0] !== ASTERISK) continue;
      const text = context.document.valueText(rule.line);
      if (!rule.allow) {
        checkTrailingSlash(rule, text, context);
        checkAssets(rule, text, context);
      }
      if (text.length > 2 && text.endsWith('*')) {
        findings.add('trailing-star', valueSpan(rule.line), () => ({
          message: `${quoted(text)} matches the same paths as ${quoted(text.slice(0, -1))}: every pattern matches what follows it.`,
          fix: 'Delete the "*". The rule then has one byte less, which may let another rule win.',
        }));
      }
    }
  }
}

function checkTrailingSlash({ line }: RuleLine, text: string, { findings }: CheckContext): void {
  const last = text.slice(text.lastIndexOf('/') + 1);
  if (text.length < 2 || last.includes('.') || '*$='.includes(text.at(-1) ?? '')) return;
  if (text.includes('?')) return;
  findings.add('trailing-slash', valueSpan(line), () =>
    last === ''
      ? {
          message: `The rule does not deny ${quoted(text.slice(0, -1))} itself, without "/" at the end.`,
          fix: `Add "Disallow: ${text.slice(0, -1)}$", if that is meant.`,
        }
      : {
          message: `The rule denies all paths that begin with ${quoted(text)}, such as ${quoted(`${text}s-and-more`)}.`,
          fix: `Write "Disallow: ${text}/", if a directory is meant.`,
        },
  );
}

function checkAssets({ line }: RuleLine, text: string, { findings }: CheckContext): void {
  const lower = text.toLowerCase();
  const isEnding = ASSET_ENDINGS.some((ending) => lower.endsWith(ending) && lower.includes('*'));
  const [, directory = ''] = lower.split('/');
  const isDirectory = ASSET_DIRECTORIES.has(directory) && lower.split('/').length <= 3;
  if (!isEnding && !isDirectory) return;
  findings.add('assets-denied', valueSpan(line), () => ({
    message: 'The rule denies style sheets or scripts: crawlers that render pages see them broken.',
    fix: 'Allow what pages need, such as "Allow: /*.css$".',
  }));
}
