/** Exit code of a command that succeeded, whatever the verdicts. */
export const SUCCESS = 0;

/** Exit code of `check` if some URL is not allowed. */
export const NOT_ALLOWED = 1;

/** Exit code of `diff --exit-code` if there is a difference. */
export const DIFFERENT = 1;

/** Exit code of `lint` if there are errors, or more warnings than `--max-warnings`. */
export const FOUND = 1;

/** Exit code of an error, as in grep and diff. */
export const FAILURE = 2;
