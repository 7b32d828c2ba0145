/** A kernel that fails at its first batch. */
export function instantiateKernel() {
  return {
    run() {
      throw new Error('thrown on purpose');
    },
  };
}
