import { meter } from './metered-kernel.js';
import { countSteps } from './metered-script.js';

const metered: WebAssembly.Global[] = [];

/*
 * From here on the kernels of this thread count their steps. Import this file in a test whose code
 * makes its own kernel: the compiler does.
 */
WebAssembly.Module = new Proxy(WebAssembly.Module, {
  construct: (Module, [bytes]: [Uint8Array]) => new Module(meter(bytes)),
});
WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(Instance, args: ConstructorParameters<typeof WebAssembly.Instance>) {
    const instance = new Instance(...args);
    metered.push(instance.exports.steps as WebAssembly.Global);
    return instance;
  },
});

/** Counts the steps of TypeScript, as `countSteps` does, and of the kernels that it calls. */
export function countAllSteps(run: () => void): number {
  takeKernelSteps();
  return countSteps(run) + takeKernelSteps();
}

/** Steps of all kernels since the last call. */
export function takeKernelSteps(): number {
  let steps = 0;
  for (const counter of metered) {
    steps += Number(counter.value);
    counter.value = 0n;
  }
  return steps;
}
