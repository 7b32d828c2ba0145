/** A fenced block of a Markdown document. */
export interface Block {
  /** Line number of the fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /**
   * Why the block cannot be run: the text of `<!-- not run: REASON -->` on the line before the
   * fence.
   */
  readonly notRun: string | undefined;
}

const FENCE = '```';
const MARKER = /^<!-- not run: (.+) -->$/;

/** Reads the fenced blocks of a Markdown document. */
export function fencedBlocks(markdown: string): Block[] {
  const lines = markdown.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const fence = lines[at];
    if (fence === undefined || !fence.startsWith(FENCE)) continue;
    const end = lines.indexOf(FENCE, at + 1);
    if (end < 0) throw new Error(`line ${at + 1}: the block does not end`);
    blocks.push({
      line: at + 1,
      language: fence.slice(FENCE.length),
      text: lines.slice(at + 1, end).join('\n'),
      notRun: MARKER.exec(lines[at - 1] ?? '')?.[1],
    });
    at = end;
  }
  return blocks;
}

/** A command of a ```console block, and its output. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

/**
 * Splits a ```console block: `$ ` begins a command, `> ` continues it, other lines are its output.
 */
export function stepsOf({ line, text }: Block): Step[] {
  const steps: { command: string[]; output: string[] }[] = [];
  for (const row of text.split('\n')) {
    const step = steps.at(-1);
    if (row.startsWith('$ ')) steps.push({ command: [row.slice(2)], output: [] });
    else if (step === undefined)
      throw new Error(`line ${line}: the block does not begin with a command`);
    else if (/^>( |$)/.test(row) && step.output.length === 0) step.command.push(row.slice(2));
    else step.output.push(row);
  }
  return steps.map(({ command, output }) => ({
    command: command.join('\n'),
    output: output.join('\n'),
  }));
}

const PRINTS = '//=> ';

/** The output of a ```js block: the text of its `//=> ` comments. */
export function printedBy({ text }: Block): string {
  return text
    .split('\n')
    .filter((row) => row.startsWith(PRINTS))
    .map((row) => row.slice(PRINTS.length))
    .join('\n');
}
