import type { CompileOptions } from '../../src/compile/body-compiler.js';
import type { RobotsDetails } from '../../src/compile/compiled-robots.js';
import { PartMerger } from '../../src/compile/part-merger.js';
import { TableContents } from '../../src/compile/table-contents.js';
import type { TableLayout } from '../../src/compile/table-layout.js';
import { PartBuilder } from '../../src/compile/table-part.js';
import type { Authority } from '../../src/protocol/authority.js';

/** Contents of a table to which files are added one by one. */
export class GrowingContents {
  readonly #contents: TableContents;
  readonly #part: PartBuilder;
  readonly #merger: PartMerger;

  constructor(options: CompileOptions = {}) {
    this.#contents = new TableContents(options);
    this.#part = new PartBuilder(options, { key: this.#contents.key });
    this.#merger = new PartMerger(this.#contents);
  }

  add(authority: Authority, body: Uint8Array, details: RobotsDetails): void {
    this.#part.add(authority, body, details);
    const part = this.#part.take();
    this.#merger.receive(part);
    this.#merger.add(part);
  }

  layOut(): TableLayout {
    return this.#contents.layOut();
  }
}
