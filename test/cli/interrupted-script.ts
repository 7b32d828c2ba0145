/** A process that goes on until signals end it, with a file that it leaves unfinished. */

import { writeFileSync } from 'node:fs';
import { Interruption } from '../../src/cli/interruption.js';
import { begun } from '../../src/pipeline/unfinished-files.js';

const [path = ''] = process.argv.slice(2);
begun(path);
writeFileSync(path, '');
const { signal } = new Interruption();
signal.addEventListener('abort', () => process.stdout.write('aborted\n'));
setInterval(() => {}, 1000);
process.stdout.write('listening\n');
