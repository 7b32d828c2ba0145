/**
 * Whether the process has a working directory, which somebody may have deleted. Node asks for the
 * directory whenever it starts a thread, and ends the thread if there is none.
 */
export function hasWorkingDirectory(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}
