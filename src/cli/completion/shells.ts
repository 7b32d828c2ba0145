import { bashCompletion } from './bash.js';
import type { ProgramWords } from './command-words.js';
import { fishCompletion } from './fish.js';
import { powershellCompletion } from './powershell.js';
import { zshCompletion } from './zsh.js';

/** The shells that have completions, and how each is written. */
export const SHELLS: Readonly<Record<string, (program: ProgramWords) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
};
