/** The work that may still be done for a file. A unit is about one step of an automaton. */
export interface WorkBudget {
  left: number;
}
