/** The commands besides the filter, which has no name. */
export const COMMAND_NAMES = ['compile', 'fetch', 'check', 'inspect'] as const;
