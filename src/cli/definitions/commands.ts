import { agentsDefinition } from './agents.js';
import { auditDefinition } from './audit.js';
import { capturesDefinition } from './captures.js';
import { checkDefinition } from './check.js';
import { compileDefinition } from './compile.js';
import { completionDefinition } from './completion.js';
import type { CommandDefinitions } from './definition.js';
import { diffDefinition } from './diff.js';
import { fetchDefinition } from './fetch.js';
import { inspectDefinition } from './inspect.js';
import { lintDefinition } from './lint.js';
import { recordsDefinition } from './records.js';
import { serveDefinition } from './serve.js';
import { shardDefinition } from './shard.js';

/** The commands in addition to the filter. A run of the filter does not load them. */
export const COMMAND_DEFINITIONS: CommandDefinitions = {
  compile: compileDefinition,
  fetch: fetchDefinition,
  check: checkDefinition,
  lint: lintDefinition,
  agents: agentsDefinition,
  inspect: inspectDefinition,
  audit: auditDefinition,
  records: recordsDefinition,
  diff: diffDefinition,
  shard: shardDefinition,
  captures: capturesDefinition,
  serve: serveDefinition,
  completion: completionDefinition,
};
