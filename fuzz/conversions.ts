import {
  CONVERSIONS,
  type ConvertedFormat,
  convertedUrl,
  readConverted,
} from '../oracle/records.js';
import { REASON_BITS } from '../src/kernel/layout.js';
import { readFrames } from '../src/kernel/query.js';
import type { QuerySettings } from '../src/kernel/query-settings.js';
import { VERDICTS } from '../src/protocol/verdict.js';
import { agree } from './fault.js';
import type { GuardedKernel } from './kernel/guarded-kernel.js';

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
  for (const asked of [settings, { ...settings, conversion }]) {
    checkFrames(kernel, { ...asked, explain: true }, input, verdicts, urls);
  }
}

/** Checks that frames hold the records as they come out without frames, and their URLs. */
function checkFrames(
  kernel: GuardedKernel,
  settings: Partial<QuerySettings>,
  input: Uint8Array,
  verdicts: readonly string[],
  urls: readonly (string | undefined)[],
): void {
  const plain = kernel.run(kernel.ask(settings), input).output;
  const frames = Buffer.from(
    kernel.run(kernel.ask({ ...settings, frames: true }), input).output,
    'latin1',
  );
  let records = '';
  let index = 0;
  readFrames(frames, 1, ({ record, url, outcomes }) => {
    records += record.toString('latin1');
    const verdict = verdicts[index];
    agree('frame: verdict', VERDICTS[(outcomes[0] ?? 0) >> REASON_BITS], verdict);
    const expected = urls[index++];
    if (expected === undefined || (verdict === 'invalid' && url.length === 0)) return;
    agree('frame: URL', url.toString('latin1'), expected);
  });
  agree('frames', index, urls.length);
  agree('records in frames', records, plain);
}

function isWritten(verdict: string, output: 'annotate' | 'allowed' | 'denied'): boolean {
  return output === 'annotate' || verdict === (output === 'allowed' ? 'allow' : 'deny');
}
