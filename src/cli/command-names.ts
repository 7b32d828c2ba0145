/** The commands in addition to the filter, which has no name. */
export const COMMAND_NAMES = [
  'compile',
  'fetch',
  'check',
  'inspect',
  'audit',
  'records',
  'diff',
  'agents',
  'completion',
] as const;
