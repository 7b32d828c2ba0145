/** Headings of the options in `--help`. */
export const ROBOTS_GROUP = 'Robots.txt';
export const FETCHING_GROUP = 'Fetching';
export const TABLE_GROUP = 'Table';
export const INPUT_GROUP = 'Input';
export const VERDICTS_GROUP = 'Verdicts';
export const OUTPUT_GROUP = 'Output';
export const PERFORMANCE_GROUP = 'Performance';
export const MESSAGES_GROUP = 'Messages';
export const HELP_GROUP = 'Help';
