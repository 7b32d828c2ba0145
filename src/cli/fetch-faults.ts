import { remedyOf } from '../fetch/local-fault.js';
import type { FetchDone, Unkept } from '../fetch/schedule.js';
import { formatAuthority } from '../protocol/authority.js';
import type { Diagnostics } from './diagnostics.js';
import { counted } from './numbers.js';

/** Authorities without a finding that are named; the others are counted. */
const MOST_NAMED = 10;

/** Says of which authorities a fetch found nothing out, why, and what to do about it. */
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
    this.#diagnostics.note(`${formatAuthority(authority)}: nothing found out: ${describe(unkept)}`);
  }

  end(): void {
    if (this.#count === 0) return;
    const subject = counted(this.#count, 'authority', 'authorities');
    const remedies = [...this.#remedies].map((remedy) => `${remedy}.`).join(' ');
    // Said with --quiet too: what the machine did is in no verdict.
    this.#diagnostics.print(
      `robots-filter: nothing was found out about ${subject}; what the directory had of them stands. ${remedies} The same command asks again`,
    );
  }
}

function describe({ kind, message }: Unkept): string {
  return kind === 'local-fault' ? `fault of this machine: ${message}` : message;
}

function remedyFor({ kind, code }: Unkept): string {
  switch (kind) {
    case 'host-crowded':
      return 'Many hosts redirect to one: lower --pause if that is yours';
    case 'store':
      return 'Clear the way for their files (rm, chmod)';
    case 'local-fault':
      return remedyOf(code) ?? "See to this machine's network";
  }
}
