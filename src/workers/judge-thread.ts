import { serveTasks } from './task-server.js';
import work from './worker.js';

// The program of the threads that judge. It is small, and loads nothing else.
serveTasks(work);
