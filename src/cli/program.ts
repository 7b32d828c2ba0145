import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Command, CommanderError, Option } from 'commander';
import { printable } from '../control-characters.js';
import { RobotsFilterError } from '../errors.js';
import { endOpenings } from '../openings.js';
import { Diagnostics, indented } from './diagnostics.js';
import * as examples from './examples.js';
import {
  allowPrivateOption,
  caOption,
  concurrencyOption,
  type FetchOptions,
  maxAgeOption,
  maxRedirectsOption,
  on429Option,
  pauseOption,
  perAddressOption,
  reportOption,
  retriesOption,
  staleOption,
  staleUseOption,
  storeOption,
  timeoutOptions,
  unreachableAfterOption,
  userAgentOption,
} from './fetch-options.js';
import { refuseLossyPaths } from './lossy-paths.js';
import { nearest } from './nearest.js';
import {
  agentOption,
  type CheckOptions,
  type CompileOptions,
  completeStats,
  type FilterOptions,
  followLinksOption,
  type InspectOptions,
  inputOption,
  maxLineBytesOption,
  maxRobotsBytesOption,
  outputOption,
  profileOption,
  quietOption,
  robotsDirOption,
  statsOption,
  tableOption,
  threadsOption,
  unknownOption,
  urlFieldOption,
  verdictFieldOption,
} from './options.js';
import { writeError, writeOutput } from './standard-streams.js';

const SUCCESS = 0;
/**
 * What could not be carried out, as with grep and diff: 1 is left for `check`, where a URL is
 * denied.
 */
const FAILURE = 2;

function version(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(file) as { version: string };
  return version;
}

/** Keeps the exit code of the command that was run. */
interface Outcome {
  code: number;
}

/** What all commands have in common. */
function configure(command: Command): Command {
  return command
    .exitOverride()
    .configureHelp({ subcommandTerm: (subcommand) => subcommand.name() })
    .showHelpAfterError(
      `(robots-filter ${command.name() === 'robots-filter' ? '' : `${command.name()} `}--help tells what there is)`,
    )
    .configureOutput({
      writeOut: writeOutput,
      writeErr: writeError,
      outputError(text, write) {
        const message = text.startsWith('error: ') ? text.slice('error: '.length) : text;
        write(indented(`robots-filter: ${message}`).split('\n').map(printable).join('\n'));
      },
    });
}

function filterCommand(program: Command, outcome: Outcome): void {
  program
    .argument('[files...]', 'URLs or records to filter; - or no file is standard input')
    .optionsGroup('What robots.txt says:')
    .addOption(robotsDirOption())
    .addOption(tableOption())
    .addOption(profileOption())
    .addOption(maxRobotsBytesOption())
    .addOption(followLinksOption())
    .addOption(staleUseOption())
    .addOption(unreachableAfterOption())
    .option('--fetch', 'fetch what is unknown into the first --robots-dir before judging')
    .addOption(userAgentOption())
    .addOption(concurrencyOption())
    .addOption(perAddressOption())
    .addOption(pauseOption())
    .addOption(allowPrivateOption())
    .addOption(caOption())
    .optionsGroup('Who asks:')
    .addOption(
      agentOption(
        "product tokens, default *; 'A>B' is a fallback chain, the first that has a group decides",
      ),
    )
    .optionsGroup('What comes in:')
    .addOption(inputOption())
    .addOption(urlFieldOption())
    .addOption(maxLineBytesOption())
    .option('--strict', 'stop at the first bad record, exit 2')
    .optionsGroup('What comes out:')
    .addOption(
      new Option(
        '--allowed',
        'only the records that every agent may fetch, as they came',
      ).conflicts('denied'),
    )
    .option('--denied', 'only the records that some agent may not fetch, as they came')
    .addOption(verdictFieldOption())
    .addOption(unknownOption())
    .option('--explain', 'add the reason, and the rule, its line and its file')
    .addOption(outputOption('file to write, complete or not at all (default: standard output)'))
    .optionsGroup('How it runs:')
    .addOption(threadsOption())
    .addOption(statsOption())
    .option('--progress', 'show progress, on a terminal or not')
    .option('--no-progress', 'show none')
    .addOption(quietOption())
    .addHelpText('after', examples.filter)
    .action(async (files: string[], options: FilterOptions) => {
      refuseLossyPaths(files, options);
      if (options.fetch === true) {
        const { fetchAndFilter } = await import('./fetch-unknown.js');
        outcome.code = await fetchAndFilter(files, options, availableParallelism(), version());
        return;
      }
      const { filter } = await import('./filter.js');
      outcome.code = await filter(files, options, availableParallelism());
    });
}

function compileCommand(command: Command, outcome: Outcome): void {
  command
    .usage('--robots-dir <dir> -o <file> [options]')
    .allowExcessArguments()
    .addOption(robotsDirOption())
    .addOption(outputOption('the table to write, complete or not at all'))
    .addOption(agentOption('keep only the groups that these product tokens need, and those of *'))
    .addOption(profileOption())
    .addOption(maxRobotsBytesOption())
    .addOption(followLinksOption())
    .addOption(staleUseOption())
    .addOption(unreachableAfterOption())
    .addOption(quietOption())
    .addHelpText('after', examples.compile)
    .action(async (options: CompileOptions) => {
      refuseLossyPaths(command.args, options);
      const { compile } = await import('./compile.js');
      outcome.code = await compile(command.args, options);
    });
}

function fetchCommand(command: Command, outcome: Outcome): void {
  command
    .usage('--robots-dir <dir> [files...|-] [options]')
    .argument('[files...]', 'URLs or records; - or no file is standard input')
    .optionsGroup('What is asked for, and where it goes:')
    .addOption(storeOption())
    .addOption(staleOption())
    .addOption(inputOption())
    .addOption(urlFieldOption())
    .addOption(maxLineBytesOption())
    .optionsGroup('How it is asked for:')
    .addOption(userAgentOption())
    .addOption(concurrencyOption())
    .addOption(perAddressOption())
    .addOption(pauseOption())
    .addOption(retriesOption())
    .addOption(maxRedirectsOption());
  for (const option of timeoutOptions()) command.addOption(option);
  command
    .addOption(allowPrivateOption())
    .addOption(caOption())
    .optionsGroup('What it means:')
    .addOption(profileOption())
    .addOption(maxRobotsBytesOption())
    .addOption(maxAgeOption())
    .addOption(unreachableAfterOption())
    .addOption(on429Option())
    .optionsGroup('What is said of it:')
    .addOption(reportOption())
    .option('--progress', 'show progress, on a terminal or not')
    .option('--no-progress', 'show none')
    .addOption(quietOption())
    .addHelpText('after', examples.fetch)
    .action(async (files: string[], options: FetchOptions) => {
      refuseLossyPaths(files, options);
      const { fetchCommand } = await import('./fetch.js');
      outcome.code = await fetchCommand(files, options, version());
    });
}

function checkCommand(command: Command, outcome: Outcome): void {
  command
    .argument('<robots-file>', 'the robots.txt; - is standard input')
    .argument('<agent>', "a product token, *, or a fallback chain 'A>B'")
    .argument('<url...>', 'the URLs; their hosts do not matter')
    .addOption(profileOption())
    .addOption(maxRobotsBytesOption())
    .addOption(quietOption())
    .addHelpText('after', examples.check)
    .action(async (file: string, agent: string, urls: string[], options: CheckOptions) => {
      refuseLossyPaths([file]);
      const { check } = await import('./check.js');
      outcome.code = await check(file, agent, urls, options);
    });
}

function inspectCommand(command: Command, outcome: Outcome): void {
  command
    .argument('<table>', 'a table that "robots-filter compile" wrote')
    .argument('[host]', 'a host, HOST:PORT or a URL of it')
    .option('--verify', 'check every byte first: do so with tables that others made')
    .addHelpText('after', examples.inspect)
    .action(async (table: string, host: string | undefined, options: InspectOptions) => {
      refuseLossyPaths([table]);
      const { inspect } = await import('./inspect.js');
      outcome.code = await inspect(table, host, options);
    });
}

interface Subcommand {
  readonly name: string;
  readonly description: string;
  /** Adds arguments, options and action. */
  readonly complete: (command: Command, outcome: Outcome) => void;
}

const SUBCOMMANDS: readonly Subcommand[] = [
  {
    name: 'compile',
    description: 'Write the robots.txt files of many hosts as a table, which opens at once.',
    complete: compileCommand,
  },
  {
    name: 'fetch',
    description: 'Fetch the robots.txt of every host that the input names, and keep them fresh.',
    complete: fetchCommand,
  },
  {
    name: 'check',
    description: 'Say for single URLs what one robots.txt says of them, and why.',
    complete: checkCommand,
  },
  {
    name: 'inspect',
    description: 'Say what a table holds: hosts, rules, bytes; for a host its groups and rules.',
    complete: inspectCommand,
  },
];

/**
 * @param argv of a subcommand that is not among these only the name and description are wanted: the
 * rest of all takes 2 ms
 */
function program(argv: readonly string[], outcome: Outcome): Command {
  const root = new Command('robots-filter')
    .description(
      'Says for each URL of a list whether a crawler may fetch it under the Robots Exclusion Protocol (RFC 9309).',
    )
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'Print this help, or that of a command.')
    .enablePositionalOptions();
  configure(root);
  filterCommand(root, outcome);
  for (const { name, description, complete } of SUBCOMMANDS) {
    const command = configure(root.command(name)).description(description);
    if (argv.includes(name)) complete(command, outcome);
  }
  // An option that stands before a command is the filter's, and would be passed over.
  root.hook('preSubcommand', (_root, command) => {
    for (const { long, attributeName } of root.options.map((option) => ({
      long: option.long,
      attributeName: option.attributeName(),
    }))) {
      if (root.getOptionValueSource(attributeName) !== 'cli') continue;
      command.error(
        `error: ${long} stands before the command; options come behind it: robots-filter ${command.name()} … ${long} …`,
      );
    }
  });
  return root;
}

/**
 * Sees that `help` is asked of a command that there is; commander would print the help of all, as
 * if it had been asked for.
 *
 * @throws RobotsFilterError `usage`
 */
function checkHelp([first, command]: readonly string[]): void {
  if (first !== 'help' || command === undefined || command.startsWith('-')) return;
  const names = SUBCOMMANDS.map(({ name }) => name);
  if (names.includes(command)) return;
  const meant = nearest(command, names);
  throw new RobotsFilterError(
    'usage',
    `help ${command}: there is no command ${command}. ${meant === undefined ? '' : `Was ${meant} meant? `}` +
      `Type robots-filter help, or robots-filter help COMMAND for one of ${names.join(', ')}`,
  );
}

/**
 * With what the system refuses something that is not there, not permitted or used up: not the
 * program's fault.
 */
const REFUSALS: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
]);

function isRefusal(error: unknown): error is Error {
  return (
    error instanceof Error && 'syscall' in error && 'code' in error && REFUSALS.has(error.code)
  );
}

/** Runs the command line; returns its exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  const outcome: Outcome = { code: SUCCESS };
  try {
    checkHelp(argv);
    await program(argv, outcome).parseAsync(completeStats(argv), { from: 'user' });
    return outcome.code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? SUCCESS : FAILURE;
    const diagnostics = new Diagnostics(true);
    if (error instanceof RobotsFilterError) {
      diagnostics.error(error.message);
    } else if (isRefusal(error)) {
      diagnostics.error(
        `${error.message}. Free what is used up or give access to it, and try again`,
      );
    } else {
      const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
      diagnostics.error(`an error of the program itself; please report it.\n${trace}`);
    }
    return FAILURE;
  } finally {
    await endOpenings();
  }
}
