import { serveTasks } from '../../workers/task-server.js';
import { compileTask } from './compile-task.js';

// The program of the threads that compile.
serveTasks(compileTask);
