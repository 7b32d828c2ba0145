/** Prints a line of a benchmark's report. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
