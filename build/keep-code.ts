/**
 * Loaded into a run of the program, on each of its threads (`node --require`): has V8 say at the
 * end what it compiled, and keeps it for the next start (src/start/loader.ts). What earlier runs
 * used is in it as well, as they left it to this one.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import vm from 'node:vm';
import { MessagePort, threadId } from 'node:worker_threads';
import { codeFile, codeToKeep } from '../src/start/kept-code.js';

const scripts = new Map<string, vm.Script>();

vm.Script = class extends vm.Script {
  constructor(source: string, options: vm.ScriptOptions) {
    super(source, options);
    if (options.filename !== undefined) scripts.set(options.filename, this);
  }
};

function keepAll(): void {
  for (const [file, script] of scripts) {
    // Piscina may end this thread while it writes, and another one writes the same file.
    const unfinished = `${codeFile(file)}.${process.pid}-${threadId}.tmp`;
    writeFileSync(unfinished, codeToKeep(script.createCachedData(), readFileSync(file)));
    renameSync(unfinished, codeFile(file));
  }
}

process.on('exit', keepAll);

// Piscina ends its threads without an event; what a thread did last is to say that it has done its
// task.
const { postMessage } = MessagePort.prototype;
MessagePort.prototype.postMessage = function (...message: Parameters<typeof postMessage>) {
  keepAll();
  postMessage.apply(this, message);
};
