import { RobotsFilterError } from '../errors.js';

/** An error about the command line; the message says what to type instead. */
export function usageError(message: string): RobotsFilterError {
  return new RobotsFilterError('usage', message);
}
