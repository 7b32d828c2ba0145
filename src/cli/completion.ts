/** Completion for bash, zsh, fish and PowerShell. */

import type { Argument, Command, Option } from 'commander';
import { LINT_RULE_NAMES } from '../lint/rules.js';
import { RECORD_KINDS } from '../protocol/fields.js';
import { listNames } from '../protocol/known-agent.js';
import { knownAgents } from '../protocol/known-agents.js';
import { summaryOf } from './options.js';

/** The shells that have completions, and how each is written. */
export const SHELLS: Readonly<Record<string, (program: ProgramWords) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
};

/** Completions for bash 4 or later. */
function bashCompletion(program: ProgramWords): string {
  const { name, commands, lists } = program;
  const names = commands.map((command) => command.name).join('|');
  return `# Completions of ${name} for bash. Load them with: source <(${name} completion bash)

_robots_filter() {
  local at=$COMP_CWORD
  local current=\${COMP_WORDS[at]} before command= options= taking= arguments=(file) place=0
  # bash parts GPTBot,@seo into three words, and --option=value and --option=@seo too.
  while ((at > 1)) && [[ \${COMP_WORDS[at-1]} == @ || \${COMP_WORDS[at-1]} == =@ || ( \${COMP_WORDS[at]} == @ && \${COMP_WORDS[at-1]} == *, ) ]]; do
    current=\${COMP_WORDS[--at]}$current
  done
  before=\${COMP_WORDS[at-1]}
  current=\${current#=}
  [[ $before == = ]] && before=\${COMP_WORDS[at-2]}
  if ((COMP_CWORD > 1)); then
    case \${COMP_WORDS[1]} in
      ${names}) command=\${COMP_WORDS[1]} ;;
    esac
  fi
  case $command in
${[...commands, program].map((command) => bashCommandCase(command, command === program)).join('\n')}
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  for ((word = 2; word < at; word++)); do
    case \${COMP_WORDS[word]} in
      -*) [[ " $taking " == *" \${COMP_WORDS[word]} "* ]] && ((word++)) ;;
      *) ((place++)) ;;
    esac
  done
  ((place < \${#arguments[@]})) || place=$((\${#arguments[@]} - 1))
  _robots_filter_value "\${arguments[place]}" "$current"
  if ((COMP_CWORD == 1)); then
    mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -W '${commands.map((each) => each.name).join(' ')}' -- "$current")
  fi
}

${Object.entries(lists)
  .map(([list, values]) => `_robots_filter_${list}='${values.join(' ')}'`)
  .join('\n')}

# Completes a value: paths, nothing (text), words of a list with commas, or one of the words.
_robots_filter_value() {
  case $1 in
    file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    text) COMPREPLY=() ;;
    list:*)
      local list=_robots_filter_\${1#list:} begun=
      [[ $2 == *,* ]] && begun=\${2%,*},
      # readline replaces only what follows the last @ of the word.
      local kept=
      [[ $COMP_WORDBREAKS == *@* && $2 == *@* ]] && kept=\${2%@*}@
      mapfile -t COMPREPLY < <(compgen -W "\${!list}" -P "$begun" -- "\${2#"$begun"}")
      COMPREPLY=("\${COMPREPLY[@]#"$kept"}")
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
  esac
}

complete -F _robots_filter ${name}
`;
}

function bashCommandCase(command: CommandWords, isProgram: boolean): string {
  const { name, options } = command;
  const places = command.arguments.length === 0 ? (['text'] as const) : command.arguments;
  const names = options.flatMap(({ short = [], long = [] }) => [short, long].flat());
  const values = options.filter(({ value }) => value !== undefined);
  return `    ${isProgram ? "''" : name})
      options='${names.join(' ')}'
      taking='${values.flatMap(({ short = [], long = [] }) => [short, long].flat()).join(' ')}'
      arguments=(${places.map((value) => `'${bashWords(value)}'`).join(' ')})
${values.length === 0 ? '' : `      case $before in\n${values.map(valueCase).join('\n')}\n      esac\n`}      ;;`;
}

function valueCase({ short, long, value = 'text' }: OptionWords): string {
  const names = [short, long].filter((each) => each !== undefined).join('|');
  return `        ${names}) _robots_filter_value '${bashWords(value)}' "$current"; return ;;`;
}

function bashWords(value: Value): string {
  const list = listOf(value);
  if (list !== undefined) return `list:${list}`;
  return Array.isArray(value) ? value.join(' ') : String(value);
}

/** Completions for zsh. */
function zshCompletion(program: ProgramWords): string {
  const { name, commands, lists } = program;
  const described = commands.map((each) => zshQuoted(`${each.name}:${each.summary}`)).join(' ');
  return `#compdef ${name}
# Completions of ${name} for zsh. Load them with: source <(${name} completion zsh)

# Words of a list, with commas between them.
${Object.entries(lists)
  .map(
    ([list, values]) =>
      `_robots_filter_${list}() {\n  compset -P '*,'\n  compadd -- ${values.map(zshQuoted).join(' ')}\n}`,
  )
  .join('\n')}

_robots_filter() {
  local -a commands
  commands=(${described})
  if ((CURRENT == 2)) && [[ $words[2] != -* ]]; then
    _alternative 'commands:command:{ _describe command commands }' 'files:file:_files'
    return
  fi
  case $words[2] in
${commands.map(commandCase).join('\n')}
    *)
      _arguments -s -S ${specifications(program)}
      ;;
  esac
}

if [[ $funcstack[1] == _robots_filter ]]; then
  _robots_filter "$@"
else
  compdef _robots_filter ${name}
fi
`;
}

/** The name of the command takes the place of the program's, as `_arguments` expects. */
function commandCase(command: CommandWords): string {
  return `    ${command.name})
      shift words
      ((CURRENT--))
      _arguments -s -S ${specifications(command)}
      ;;`;
}

function specifications(command: CommandWords): string {
  const rest = command.arguments.map((value, index, { length }) =>
    zshQuoted(`${index === length - 1 ? '*' : index + 1}:${action('argument', value)}`),
  );
  return [...command.options.map(specification), ...rest]
    .map((each) => `\\\n        ${each}`)
    .join(' ');
}

/** `'(-a --agent)'{-a,--agent}'[summary]:token,…:'`. An option may be repeated. */
function specification({ short, long, summary, value, placeholder }: OptionWords): string {
  const text = summary.replaceAll('[', '\\[').replaceAll(']', '\\]');
  const after = value === undefined ? '' : `:${action(placeholder, value)}`;
  // With = at its end, a name takes its value in the same word too.
  const whole = long === undefined || value === undefined ? long : `${long}=`;
  const names = [short, whole].filter((each) => each !== undefined);
  const both = names.length === 2 ? `'*'{${names.join(',')}}` : `'*'${names[0] ?? ''}`;
  return `${both}${zshQuoted(`[${text}]${after}`)}`;
}

/** A message and what completes a value, for `_arguments`. */
function action(name: string, value: Value): string {
  const message = name.replaceAll(':', ' ');
  if (value === 'file') return `${message}:_files`;
  const list = listOf(value);
  if (list !== undefined) return `${message}:_robots_filter_${list}`;
  return Array.isArray(value) ? `${message}:(${value.join(' ')})` : `${message}: `;
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Completions for fish. */
function fishCompletion(program: ProgramWords): string {
  const { name, commands, lists } = program;
  const names = commands.map((each) => each.name).join(' ');
  const none = `not __fish_seen_subcommand_from ${names}`;
  return `# Completions of ${name} for fish. Load them with: ${name} completion fish | source

${Object.entries(lists)
  .map(
    ([list, values]) =>
      `function __robots_filter_${list}; printf '%s\\n' ${values.map(fishQuoted).join(' ')}; end`,
  )
  .join('\n')}

complete -c ${name} -e
${commands
  .map(
    (each) =>
      `complete -c ${name} -n __fish_use_subcommand -a ${each.name} -d ${fishQuoted(each.summary)}`,
  )
  .join('\n')}
${lines(name, program, none)}
${commands.map((each) => lines(name, each, `__fish_seen_subcommand_from ${each.name}`)).join('\n')}
`;
}

function lines(program: string, command: CommandWords, condition: string): string {
  const start = `complete -c ${program} -n ${fishQuoted(condition)}`;
  const hasFiles = command.arguments.includes('file');
  const own = command.arguments.flatMap((value) => {
    const words = wordsOf(value);
    return words === undefined ? [] : [`${start} -a ${words}`];
  });
  const none = hasFiles ? [] : [`${start} -f`];
  return [
    ...command.options.map((option) => `${start} ${fishWords(option)}`),
    ...own,
    ...none,
  ].join('\n');
}

/** The words that a value may be, or a function that prints them; `undefined` for other values. */
function wordsOf(value: Value): string | undefined {
  const list = listOf(value);
  if (list !== undefined) return fishQuoted(`(__fish_complete_list , __robots_filter_${list})`);
  return Array.isArray(value) ? fishQuoted(value.join(' ')) : undefined;
}

function fishWords({ short, long, summary, value }: OptionWords): string {
  const names = [
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
  ];
  return [...names, ...valueWords(value), '-d', fishQuoted(summary)].join(' ');
}

function valueWords(value: Value | undefined): readonly string[] {
  if (value === undefined) return [];
  if (value === 'file') return ['-r', '-F'];
  const words = wordsOf(value);
  return words === undefined ? ['-x'] : ['-x', '-a', words];
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** Completions for PowerShell 5.1 or later. PowerShell itself completes the names of files. */
function powershellCompletion(program: ProgramWords): string {
  const { name, commands, lists } = program;
  const names = commands.map((each) => each.name);
  return `# Completions of ${name} for PowerShell. Load them with:
# ${name} completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName ${name} -ScriptBlock {
  param($current, $ast, $cursor)
  $words = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  $command = if ($words.Count -gt 1 -and $words[1] -in ${list(names)}) { $words[1] } else { '' }
  $before = if ($words.Count -gt 1) { $words[-1] } else { '' }
${Object.entries(lists)
  .map(([name, values]) => `  $${name} = ${list(values)}`)
  .join('\n')}
  $values = switch -CaseSensitive ("$command $before") {
${[...commands, program].flatMap((each) => values(each, each === program)).join('\n')}
  }
  if ($values) {
    # Several words have commas between them, and @ must stand in quotes.
    $start = $current.LastIndexOf(',') + 1
    $typed = $current.Substring($start).TrimStart("'")
    $values | Where-Object { $_ -like "$typed*" } | ForEach-Object {
      $word = if ($_.StartsWith('@')) { "'$_'" } else { $_ }
      $text = $current.Substring(0, $start) + $word
      [System.Management.Automation.CompletionResult]::new($text, $_, 'ParameterValue', $_)
    }
    return
  }
  $known = switch -CaseSensitive ($command) {
${[...commands, program].map((each) => options(each, each === program)).join('\n')}
  }
  if ($words.Count -le 1) { $known += @(
${commands.map(({ name, summary }) => pair(name, summary)).join('\n')}
  ) }
  $known | Where-Object { $_[0] -clike "$current*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_[0], $_[0], 'ParameterName', $_[1])
  }
}
`;
}

/** The words that may follow an option, or a command. */
function values(command: CommandWords, isProgram: boolean): string[] {
  const { name, options } = command;
  const [first] = isProgram ? [] : command.arguments;
  const named = first === undefined ? undefined : listOf(first);
  const own =
    named === undefined ? [] : [`    ${powershellQuoted(`${name} ${name}`)} { $${named} }`];
  return own.concat(
    options.flatMap(({ short, long, value }) => {
      if (value === undefined || typeof value === 'string') return [];
      const words = Array.isArray(value) ? list(value) : `$${listOf(value)}`;
      return [short, long].flatMap((option) =>
        option === undefined
          ? []
          : [`    ${powershellQuoted(`${isProgram ? '' : name} ${option}`)} { ${words} }`],
      );
    }),
  );
}

function options({ name, options }: CommandWords, isProgram: boolean): string {
  const pairs = options.flatMap((option) => optionPairs(option)).join('\n');
  return `    ${powershellQuoted(isProgram ? '' : name)} { @(\n${pairs}\n    ) }`;
}

function optionPairs({ short, long, summary }: OptionWords): string[] {
  return [short, long].flatMap((option) => (option === undefined ? [] : [pair(option, summary)]));
}

function pair(name: string, summary: string): string {
  return `      , @(${powershellQuoted(name)}, ${powershellQuoted(summary)})`;
}

function list(words: readonly string[]): string {
  return `@(${words.map(powershellQuoted).join(', ')})`;
}

function powershellQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Lists of words of which a value may have several, with commas between them. */
export type ListName = 'agents' | 'rules' | 'kinds';

/**
 * What a value may be: one of some words, the path of a file or directory, any text, or words of a
 * list.
 */
export type Value = readonly string[] | 'file' | 'text' | { readonly list: ListName };

/** The name of a value's list; `undefined` for other values. */
export function listOf(value: Value): ListName | undefined {
  return typeof value === 'object' && 'list' in value ? value.list : undefined;
}

/** An option as a shell completes it. */
export interface OptionWords {
  /** `-a`, if there is one. */
  readonly short: string | undefined;
  /** `--agent`; `-h` has only its short name. */
  readonly long: string | undefined;
  readonly summary: string;
  /** Missing if the option takes no value, or none that stands in a word of its own. */
  readonly value: Value | undefined;
  /** The placeholder of the value in the help: `token,…`. */
  readonly placeholder: string;
}

/** A command as a shell completes it. */
export interface CommandWords {
  /** `compile`; the filter itself has the name of the program. */
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  /** What each argument may be; the last one may be repeated. */
  readonly arguments: readonly Value[];
}

/** The program and its commands. */
export interface ProgramWords extends CommandWords {
  readonly commands: readonly CommandWords[];
  readonly lists: Readonly<Record<ListName, readonly string[]>>;
}

/** Reads the words from the same definitions that `--help` prints. */
export function programWords(program: Command): ProgramWords {
  const help = { name: 'help', summary: 'Print the help of a command.', options: [] };
  const commands = program.commands.map(commandWords);
  const names = commands.map(({ name }) => name);
  const known = knownAgents();
  return {
    ...commandWords(program),
    commands: [...commands, { ...help, arguments: [names] }],
    lists: {
      agents: [...listNames(known).map((name) => `@${name}`), ...known.map(({ token }) => token)],
      rules: LINT_RULE_NAMES,
      kinds: RECORD_KINDS,
    },
  };
}

function commandWords(command: Command): CommandWords {
  return {
    name: command.name(),
    summary: command.description(),
    options: command.createHelp().visibleOptions(command).map(optionWords),
    arguments: command.registeredArguments.map(valueOfArgument),
  };
}

function optionWords(option: Option): OptionWords {
  const [, placeholder = ''] = /<(.*)>/.exec(option.flags) ?? [];
  return {
    short: option.short,
    long: option.long,
    summary: summaryOf(option),
    value: option.required ? (option.argChoices ?? valueOfOption(placeholder)) : undefined,
    placeholder,
  };
}

/** The name of a member or column is any text. */
function valueOfOption(placeholder: string): Value {
  return placeholder === 'name' ? 'text' : valueOfPlaceholder(placeholder);
}

function valueOfArgument(argument: Argument): Value {
  return argument.argChoices ?? valueOfPlaceholder(argument.name());
}

/** Placeholders of options and arguments that are paths. A source is a file or a directory. */
const PATHS: ReadonlySet<string> = new Set([
  'dir',
  'file',
  'files',
  'new',
  'old',
  'path',
  'source',
  'sources',
  'table',
]);

/** Placeholders of options and arguments that are words of a list. */
const LISTS: Readonly<Record<string, ListName>> = {
  'token,…': 'agents',
  agent: 'agents',
  name: 'agents',
  'rule,…': 'rules',
  'kind,…': 'kinds',
};

function valueOfPlaceholder(placeholder: string): Value {
  const list = LISTS[placeholder];
  if (list !== undefined) return { list };
  return PATHS.has(placeholder) ? 'file' : 'text';
}
