/** The command did what it was asked to do, whatever the verdicts. */
export const SUCCESS = 0;

/** `check` only: some URL is not allowed. */
export const NOT_ALLOWED = 1;

/** An error, as with grep and diff. */
export const FAILURE = 2;
