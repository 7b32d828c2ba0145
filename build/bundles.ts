import { rolldown } from 'rolldown';
import bundles from '../rolldown.config.js';

// Writes the bundles of rolldown.config.ts. The command of rolldown does the same, but lists each
// file that it writes, at every level of its log: a screen and a half before the first verdict.

for (const { output = {}, ...input } of bundles) {
  const bundle = await rolldown({ logLevel: 'warn', ...input });
  for (const each of [output].flat()) await bundle.write(each);
  await bundle.close();
}
