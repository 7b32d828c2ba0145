import type { QuerySettings } from '../../src/kernel/query-settings.js';
import {
  CONVERSIONS,
  type ConvertedFormat,
  convertedUrl,
  readConverted,
} from '../../test/naive/conversion.js';
import { agree } from '../fault.js';
import type { GuardedKernel } from '../kernel/guarded-kernel.js';

/**
 * Checks a conversion of an input: each record becomes one record, with its verdict and its URL.
 *
 * @param settings how the input is read
 * @param urls for each record that is not blank, what must come out as its URL, a character for
 *   each byte; `undefined` if that is not known
 */
export function checkConversions(
  kernel: GuardedKernel,
  settings: Partial<QuerySettings>,
  input: Uint8Array,
  urls: readonly (string | undefined)[],
): void {
  const words = kernel.run(kernel.ask({ ...settings, output: 'verdicts' }), input).output;
  const verdicts = words.split('\n').filter((word) => word !== '');
  agree('records', verdicts.length, urls.length);
  const own = settings.format === 'json' ? 'ndjson' : settings.format;
  const others = CONVERSIONS.filter((conversion) => conversion !== own);
  // The input draws one of them, so that each input takes little time.
  const drawn = input.reduce((sum, byte) => sum + byte, input.length) % others.length;
  const conversion = others[drawn] as ConvertedFormat;
  for (const output of ['annotate', 'allowed', 'denied'] as const) {
    const query = kernel.ask({ ...settings, conversion, output });
    const text = kernel.run(query, input).output;
    const rows = readConverted(text, conversion, output === 'annotate');
    const expected = verdicts.flatMap((verdict, index) =>
      isWritten(verdict, output) ? [{ verdict, url: urls[index] }] : [],
    );
    agree(`${output} records as ${conversion}`, rows.length, expected.length);
    expected.forEach(({ verdict, url }, index) => {
      if (output === 'annotate') agree(`${conversion}: verdict`, rows[index]?.verdict, verdict);
      if (url === undefined) return;
      agree(`${conversion}: URL`, rows[index]?.url, convertedUrl(url, conversion));
    });
  }
  // The longest output: only its bounds are of interest here.
  kernel.run(kernel.ask({ ...settings, conversion, explain: true }), input);
}

function isWritten(verdict: string, output: 'annotate' | 'allowed' | 'denied'): boolean {
  return output === 'annotate' || verdict === (output === 'allowed' ? 'allow' : 'deny');
}
