/** What Piscina's threads start with, in place of its own file. */

import { fileURLToPath } from 'node:url';
import { load } from './loader.js';

load(fileURLToPath(new URL('piscina-worker.js', import.meta.url)));
