/** Writes the report of the public API anew, from the build in dist: `npm run api:report`. */

import { writeFileSync } from 'node:fs';
import { API_REPORT, publicApi } from './public-api.js';

writeFileSync(API_REPORT, publicApi());
