import { serveTasks } from '../workers/task-server.js';
import { serveRequests } from './serve-requests.js';

// The program of the threads of `serve`.
serveTasks(serveRequests);
