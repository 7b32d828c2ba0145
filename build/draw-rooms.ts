/** Draws the rooms of src and their arrows into docs/design.md: `npm run rooms`. */

import { readFileSync, writeFileSync } from 'node:fs';
import { ROOMS_PAGE, readRooms, withRooms } from './rooms.js';

writeFileSync(ROOMS_PAGE, withRooms(readFileSync(ROOMS_PAGE, 'utf8'), readRooms()));
console.log(ROOMS_PAGE);
