/**
 * Has the threads of a run take their steps one at a time, in an order that a seed draws, so that
 * what happens between two steps of one thread is not left to the luck of the scheduler: with it, a
 * race of microseconds is as likely as any other. A thread that waits for a word goes on when it
 * has been notified, and never because its time is up: a wake-up that is lost shows as a run
 * without end.
 *
 * What threads do between a step and the next is done by the one that has the baton. The main
 * thread runs freely beside them, and so does a thread that sits in a read of a pipe. The schedule
 * lies in the first page of memory:
 *
 *      2048  i32  SEED      0 = threads run as they like
 *      2052  i32  STAY      of 256 steps, after how many the thread goes on by itself
 *      2056  i32  PATIENCE  milliseconds that all stand still for a thread to come in place of one
 *                           that died
 *      2060  i32  BATON     0 = nobody's, else 1 + the thread that runs
 *      2064  i32  COME      threads that have come, one for each task
 *      2068  i32  AWAITED   so many must have come, or
 *      2072  i32  UNTIL     it must be so late, before anybody goes on
 *      2080       for each thread: i32 its standing, i32 the address of the word that it waits for
 */
const { add, compareExchange, load, notify, store, wait } = Atomics;

const SCHEDULE = 2048;
const SEED = 0;
const STAY = 1;
const PATIENCE = 2;
const BATON = 3;
const COME = 4;
const AWAITED = 5;
const UNTIL = 6;
const THREADS = 8;
const MOST_THREADS = 64;

const AWAY = 0;
const READY = 1;
const WAITING = 2;

/** Milliseconds after which a thread looks for itself whether the baton lies about. */
const LOOK = 1;

export class Schedule {
  #words;
  #me = -1;

  /** @param {ArrayBufferLike} memory that of the run */
  constructor(memory) {
    this.#words = new Int32Array(memory, SCHEDULE, THREADS + 2 * MOST_THREADS);
  }

  /** To be called by the main thread before the run. */
  set({ seed, stay, patience }) {
    this.#words[SEED] = seed;
    this.#words[STAY] = stay;
    this.#words[PATIENCE] = patience;
  }

  /** To be called by a thread that has a task. */
  come() {
    if (load(this.#words, SEED) === 0) return;
    this.#me = add(this.#words, COME, 1);
    if (this.#me >= MOST_THREADS) throw new Error('more threads than the schedule has room for');
  }

  /** To be called before each step: returns when it is this thread's turn. */
  step() {
    if (this.#me < 0) return;
    this.#stand(READY);
    this.#passOn();
    this.#await();
  }

  /** In place of `Atomics.wait` without a bound, at a word that has the value still. */
  wait(array, index, value) {
    store(this.#words, this.#at(this.#me) + 1, addressOf(array, index));
    this.#stand(WAITING);
    // The main thread may have changed it just now, and looked for who waits before.
    if (load(array, index) !== value) {
      this.#stand(READY);
      return 'not-equal';
    }
    this.#passOn();
    this.#await();
    return 'ok';
  }

  /** Beside `Atomics.notify`. */
  notify(array, index, count = Number.POSITIVE_INFINITY) {
    const address = addressOf(array, index);
    let left = count;
    for (let thread = 0; thread < load(this.#words, COME) && left > 0; thread++) {
      const at = this.#at(thread);
      if (load(this.#words, at + 1) !== address) continue;
      if (compareExchange(this.#words, at, WAITING, READY) === WAITING) left--;
    }
  }

  /** Whether this thread's steps are ordered. */
  get isOn() {
    return this.#me >= 0;
  }

  /** To be called before the thread does what is no step, such as to end its task. */
  leave() {
    if (this.#me < 0 || load(this.#words, this.#at(this.#me)) === AWAY) return;
    this.#stand(AWAY);
    this.#passOn();
  }

  /** To be called before it dies. */
  die() {
    if (this.#me < 0) return;
    store(this.#words, UNTIL, now() + load(this.#words, PATIENCE));
    store(this.#words, AWAITED, load(this.#words, COME) + 1);
    this.leave();
  }

  #at(thread) {
    return THREADS + 2 * thread;
  }

  #stand(standing) {
    store(this.#words, this.#at(this.#me), standing);
  }

  get #allStandStill() {
    return load(this.#words, COME) < load(this.#words, AWAITED) && now() < load(this.#words, UNTIL);
  }

  /** Gives the baton to one of those who are ready, if it is this thread's. */
  #passOn() {
    const mine = this.#me + 1;
    if (load(this.#words, BATON) !== mine) return;
    const ready = [];
    if (!this.#allStandStill) {
      for (let thread = 0; thread < load(this.#words, COME); thread++) {
        if (load(this.#words, this.#at(thread)) === READY) ready.push(thread);
      }
    }
    if (ready.includes(this.#me) && this.#random(256) < load(this.#words, STAY)) return;
    const next = ready[this.#random(ready.length)];
    store(this.#words, BATON, next === undefined ? 0 : next + 1);
    if (next !== this.#me) notify(this.#words, BATON);
  }

  #await() {
    const mine = this.#me + 1;
    for (;;) {
      const baton = load(this.#words, BATON);
      if (baton === mine) return;
      if (baton !== 0) {
        wait(this.#words, BATON, baton, LOOK);
      } else if (load(this.#words, this.#at(this.#me)) !== READY || this.#allStandStill) {
        wait(this.#words, BATON, 0, LOOK);
      } else if (compareExchange(this.#words, BATON, 0, mine) === 0) {
        return;
      }
    }
  }

  /** From 0 to less than the bound; for who has the baton. Xorshift. */
  #random(bound) {
    let seed = load(this.#words, SEED);
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    store(this.#words, SEED, seed);
    return bound === 0 ? 0 : (seed >>> 0) % bound;
  }
}

function addressOf(array, index) {
  return array.byteOffset + 4 * index;
}

/** Milliseconds, alike for all threads. */
function now() {
  return Date.now() & 0x3fffffff;
}
