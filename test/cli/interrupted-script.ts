/** A process with an unfinished file. It runs until signals end it. */

import { writeFileSync } from 'node:fs';
import { Interruption } from '../../src/cli/console.js';
import { begun } from '../../src/files/replacement.js';

const [path = ''] = process.argv.slice(2);
begun(path);
writeFileSync(path, '');
const { signal } = new Interruption();
signal.addEventListener('abort', () => process.stdout.write('aborted\n'));
setInterval(() => {}, 1000);
process.stdout.write('listening\n');
