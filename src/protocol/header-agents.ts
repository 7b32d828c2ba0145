/** Finds the crawler that a User-Agent header names: a known agent, or else a product token. */

import { isLetter } from '../base/characters.js';
import {
  type Agent,
  headerCandidates,
  headerWords,
  isBrowserWord,
  isNameCharacter,
  isPublishedName,
  tokenPrefix,
} from './agent.js';
import { askedAs, type KnownAgent } from './known-agent.js';

/** A name that is looked for, in lower case, and the agent that has it. */
interface SoughtName {
  readonly name: string;
  readonly agent: KnownAgent;
}

/** A known agent, and where in the words of a header its name stands. */
interface FoundAgent extends SoughtName {
  readonly at: number;
}

/** Finds known agents in headers by the first word of their names, in one pass over a header. */
export class HeaderAgents {
  /** By the name's first characters that are name characters. */
  readonly #byStart = new Map<string, SoughtName[]>();

  constructor(known: readonly KnownAgent[]) {
    for (const agent of known) {
      const name = (agent.published ?? agent.token).toLowerCase();
      const start = name.slice(0, endOfName(name, 0));
      const others = this.#byStart.get(start);
      if (others === undefined) this.#byStart.set(start, [{ name, agent }]);
      else others.push({ name, agent });
    }
  }

  /**
   * The known agents whose names stand in a header as whole words, in any case: not as a part of a
   * longer name, and not in the address of a page. In the order of their places.
   */
  *namedIn(header: string): Iterable<FoundAgent> {
    const text = headerWords(header).join(' ').toLowerCase();
    for (let at = 0; at < text.length; ) {
      const end = endOfName(text, at);
      for (const { name, agent } of this.#byStart.get(text.slice(at, end)) ?? []) {
        const after = at + name.length;
        if (!text.startsWith(name, at) || isNameCharacter(text, after)) continue;
        yield { name, agent, at };
      }
      at = Math.max(end, at + 1);
    }
  }

  /**
   * The agent for which a record with this header is judged; `undefined` if the header names no
   * crawler.
   *
   * 1. The known agent that is named first; of several at one place the longest name.
   * 2. Otherwise the first word, unless it is that of a browser: `MyBot (+https://my.example/)`.
   * 3. Otherwise the first `name/version` that is not that of a browser.
   *
   * A name with digits or dots stands for its product token, as in a user-agent line.
   */
  agentOf(header: string): Agent | undefined {
    let best: FoundAgent | undefined;
    for (const found of this.namedIn(header)) {
      if (best !== undefined && found.at > best.at) break;
      if (best === undefined || found.name.length > best.name.length) best = found;
    }
    if (best !== undefined) {
      const { token, fallback } = best.agent;
      return { name: askedAs(best.agent), chain: [token], disregardsAny: fallback === false };
    }
    const [word = ''] = header.trimStart().startsWith('(') ? [] : headerWords(header);
    return agentOfProduct(word) ?? agentOfProduct(headerCandidates(header)[0] ?? '');
  }
}

/** The agent of a product, with or without a version; `undefined` for a browser's or none. */
function agentOfProduct(product: string): Agent | undefined {
  const [name = ''] = product.split('/', 1);
  const token = tokenPrefix(name);
  if (isBrowserWord(token) || ![...token].some((each) => isLetter(each.charCodeAt(0)))) {
    return undefined;
  }
  return { name: isPublishedName(name) ? name : token, chain: [token] };
}

/** Offset after the name characters from `at` on. */
function endOfName(text: string, at: number): number {
  let end = at;
  while (isNameCharacter(text, end)) end++;
  return end;
}
