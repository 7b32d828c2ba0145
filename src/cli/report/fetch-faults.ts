import type { FetchDone, Unkept } from '../../fetch/schedule/schedule.js';
import { remedyOf } from '../../fetch/transport/local-fault.js';
import { formatAuthority } from '../../protocol/authority.js';
import type { Diagnostics } from './diagnostics.js';
import { formatCount } from './numbers.js';

/** Number of authorities that are named. Further ones are counted. */
const MOST_NAMED = 10;

/** Prints the authorities that a fetch could not record, with the reason and the remedy. */
export class FetchFaults {
  readonly #diagnostics: Diagnostics;
  readonly #remedies = new Set<string>();
  #count = 0;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  add({ authority, unkept }: FetchDone): void {
    if (unkept === undefined) return;
    this.#remedies.add(remedyFor(unkept));
    if (++this.#count > MOST_NAMED) return;
    this.#diagnostics.note(`${formatAuthority(authority)}: not recorded: ${describe(unkept)}`);
  }

  /** Prints the number of authorities and the remedies. */
  end(): void {
    if (this.#count === 0) return;
    const subject = formatCount(this.#count, 'authority was', 'authorities were');
    const remedies = [...this.#remedies].map((remedy) => `${remedy}.`).join(' ');
    // Printed with --quiet too, because no verdict shows a fault of this machine.
    this.#diagnostics.print(
      `robots-filter: ${subject} not recorded; earlier files still count. ${remedies} Then run the same command again`,
    );
  }
}

function describe({ kind, message }: Unkept): string {
  return kind === 'local-fault' ? `fault of this machine: ${message}` : message;
}

function remedyFor({ kind, code }: Unkept): string {
  switch (kind) {
    case 'host-crowded':
      return 'Many hosts redirect to one host; if that host is yours, lower --pause';
    case 'retry-after':
      return 'Wait until these hosts want requests again';
    case 'store':
      return 'Make their files writable, or delete them';
    case 'local-fault':
      return remedyOf(code) ?? "Check this machine's network";
  }
}
