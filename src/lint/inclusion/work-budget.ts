/** The work that may still be done for a file. A unit is about one step of an automaton. */
export interface WorkBudget {
  left: number;
}

/** Units of work for comparing the rules of a file; about a third of a second. */
export const FILE_WORK = 10_000_000;
