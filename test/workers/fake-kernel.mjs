/**
 * A kernel in JavaScript for tests of threads. It keeps the contract of kernel/layout.ts, but its
 * verdicts are trivial, some lines make it fail, and the line WAIT is judged only after SIGNAL.
 * fake-judge.ts describes its output for each line.
 */
import L from './layout.mjs';

const NEWLINE = 10;
const RETURN = 13;

/** Word of the first page: 1 = the line SIGNAL has been judged. */
const SIGNALLED = 265;
/** Word of the first page: 1 = a line WAIT waits for that. */
const WAITING = 266;
/** Maximum milliseconds of that wait. */
const PATIENCE = 20_000;

/** A module with one function, whose body is `unreachable`. */
const TRAP = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 0x74, 0, 0],
  ...[0x0a, 5, 1, 3, 0, 0, 0x0b],
);

/** The effect of a line on the thread that judges it. */
const FAILURES = new Map([
  [
    'THROW',
    () => {
      throw new Error('thrown on purpose');
    },
  ],
  ['EXIT', () => process.exit(7)],
  ['TRAP', () => new WebAssembly.Instance(new WebAssembly.Module(TRAP)).exports.t()],
  [
    'HOARD',
    () => {
      const hoard = [];
      for (;;) hoard.push(new Array(10_000).fill(hoard.length + 0.5));
    },
  ],
]);

export function instantiateKernel(_module, memory) {
  const bytes = new Uint8Array(memory.buffer);
  const view = new DataView(memory.buffer);
  const u32 = (address) => view.getUint32(address, true);
  const set = (address, value) => view.setUint32(address, value, true);
  const count = (address) =>
    view.setBigUint64(address, view.getBigUint64(address, true) + 1n, true);
  const plan = new Int32Array(memory.buffer, 0, WAITING + 1);
  const text = (from, end) => Buffer.from(bytes.slice(from, end)).toString('latin1');

  function awaitSignal() {
    Atomics.store(plan, WAITING, 1);
    while (Atomics.load(plan, SIGNALLED) === 0) {
      if (Atomics.wait(plan, SIGNALLED, 0, PATIENCE) === 'timed-out') throw new Error('no signal');
    }
  }

  function signal() {
    Atomics.store(plan, SIGNALLED, 1);
    Atomics.notify(plan, SIGNALLED);
  }

  /** Writes one byte beyond a region of the task; regions end at multiples of 64. */
  function overrun(task, region) {
    const ends = {
      SCRATCH: u32(task + L.TASK_SCRATCH_END),
      OUTPUT: u32(task + L.TASK_OUTPUT_END) + L.MARGIN,
    };
    bytes[Math.ceil(ends[region] / 64) * 64] ^= 0xff;
  }

  function run(task) {
    const query = u32(task + L.TASK_QUERY);
    const worker = u32(task + L.TASK_WORKER);
    const flags = u32(task + L.TASK_FLAGS);
    const strict = (u32(query + L.QUERY_FLAGS) & L.QUERY_STRICT) !== 0;
    const overhead = u32(query + L.QUERY_LINE_OVERHEAD);
    const longest = u32(query + L.QUERY_MAX_LINE);
    const end = u32(task + L.TASK_INPUT_END);
    const limit = u32(task + L.TASK_OUTPUT_END);
    let at = u32(task + L.TASK_INPUT);
    let out = u32(task + L.TASK_OUTPUT);
    let lines = u32(task + L.TASK_LINES);
    let bad = 0;
    // Batches end in another order than they began.
    if (u32(query + L.QUERY_UNKNOWN) === 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * 2);
    }
    const leave = (result) => {
      set(task + L.TASK_INPUT, at);
      set(task + L.TASK_OUTPUT, out);
      set(task + L.TASK_LINES, lines);
      set(task + L.TASK_BAD_COUNT, bad);
      return result;
    };

    while (at < end) {
      const newline = bytes.subarray(at, end).indexOf(NEWLINE);
      const next = newline < 0 ? end : at + newline + 1;
      let stop = newline < 0 ? end : at + newline;
      if (stop > at && bytes[stop - 1] === RETURN) stop--;
      const length = stop - at;
      if (length === 0) {
        at = next;
        lines++;
        continue;
      }
      if (limit - out < length + overhead + L.MARGIN) return leave(L.RUN_OUTPUT_FULL);
      const overlong = (flags & L.TASK_OVERLONG) !== 0 || length > longest;
      const first = bytes[at];
      let record;
      if (overlong || first === 0x21) {
        if (strict) {
          set(task + L.TASK_BAD, lines);
          set(task + L.TASK_BAD + 4, overlong ? L.REASON_LINE_TOO_LONG : L.REASON_NO_OBJECT);
          bad = 1;
          return leave(L.RUN_BAD_RECORD);
        }
        if ((flags & L.TASK_LINE_BASE_KNOWN) === 0) return leave(L.RUN_NEEDS_LINE_BASE);
        if (bad < L.MAX_BAD) {
          set(task + L.TASK_BAD + 8 * bad, lines);
          set(
            task + L.TASK_BAD + 8 * bad + 4,
            overlong ? L.REASON_LINE_TOO_LONG : L.REASON_NO_OBJECT,
          );
        }
        bad++;
        count(worker + L.WORKER_BAD);
        const line = view.getBigUint64(task + L.TASK_LINE_BASE, true) + BigInt(lines) + 1n;
        const shown = text(at, Math.min(stop, at + L.BAD_INPUT_LIMIT));
        record = `bad ${overlong ? 'long' : 'line'} ${line} ${shown}\n`;
      } else {
        const line = text(at, stop);
        if (line === 'WAIT') awaitSignal();
        if (line === 'SIGNAL') signal();
        if (line.startsWith('OVERRUN ')) overrun(task, line.split(' ')[1]);
        FAILURES.get(line)?.();
        record = first === 0x2b ? `${line}${'.'.repeat(overhead - 8)}\n` : `ok ${line}\n`;
      }
      bytes.set(Buffer.from(record, 'latin1'), out);
      out += record.length;
      at = next;
      lines++;
      count(worker + L.WORKER_RECORDS);
      count(worker + L.WORKER_TALLY);
    }
    return leave(L.RUN_DONE);
  }
  return { run };
}
