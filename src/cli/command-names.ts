/** The commands in addition to the filter, which has no name. */
export const COMMAND_NAMES = [
  'compile',
  'fetch',
  'check',
  'lint',
  'inspect',
  'audit',
  'records',
  'diff',
  'shard',
  'captures',
  'agents',
  'serve',
  'completion',
] as const;
