import { RobotsFilterError } from '../../errors.js';
import { inputName } from '../../files/standard-input.js';
import { listLines } from './list-lines.js';

/**
 * The URLs of a list with one on each line.
 *
 * @param path `-` is standard input
 * @throws RobotsFilterError `input` if the list cannot be read or is of another format
 */
export async function* urlsOf(path: string): AsyncGenerator<string> {
  for await (const { number, text } of listLines(path)) {
    // A record of JSON begins so.
    if (number === 1 && text.startsWith('{')) {
      throw new RobotsFilterError(
        'input',
        `${inputName(path)}: holds records, and not one URL on each line. Type: jq -r .url FILE`,
      );
    }
    yield text;
  }
}
