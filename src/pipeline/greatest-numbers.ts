/** The greatest of many numbers: a binary heap, whose first number is the least. */
export class GreatestNumbers {
  readonly #most: number;
  readonly #heap: number[] = [];

  /** @param most how many of them are kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** The least of the numbers that are kept; 0 while there are too few of them. */
  get least(): number {
    return this.#heap.length < this.#most ? 0 : (this.#heap[0] as number);
  }

  /** @param number a positive number */
  add(number: number): void {
    const heap = this.#heap;
    if (heap.length < this.#most) this.#rise(number, heap.length);
    else if (number > this.least) this.#sink(number);
  }

  #rise(number: number, from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((heap[parent] as number) <= number) break;
      heap[at] = heap[parent] as number;
      at = parent;
    }
    heap[at] = number;
  }

  /** Replaces the least number. */
  #sink(number: number): void {
    const heap = this.#heap;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      const other = child + 1;
      if (other < heap.length && (heap[other] as number) < (heap[child] as number)) child = other;
      if ((heap[child] as number) >= number) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = number;
  }
}
