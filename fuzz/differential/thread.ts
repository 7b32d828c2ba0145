import { parentPort } from 'node:worker_threads';
import { ask, hostileQuestions } from '../../test/differential/questions.js';
import { Tally } from '../../test/differential/tally.js';
import type { Outcome, Work } from './messages.js';

parentPort?.on('message', (work: Work) => parentPort?.postMessage(outcomeOf(work)));

function outcomeOf(work: Work): Outcome {
  const { profile, firstSeed, seeds } = work;
  const tally = new Tally();
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    try {
      ask(hostileQuestions(seed, profile), tally);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { kind: 'found', work, message };
    }
  }
  return { kind: 'done', work, cases: tally.cases, counts: tally.counts };
}
