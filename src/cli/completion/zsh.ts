import {
  type CommandWords,
  listOf,
  type OptionWords,
  type ProgramWords,
  type Value,
} from './command-words.js';

/** Completions for zsh. */
export function zshCompletion(program: ProgramWords): string {
  const { name, commands, lists } = program;
  const described = commands.map((each) => quoted(`${each.name}:${each.summary}`)).join(' ');
  return `#compdef ${name}
# Completions of ${name} for zsh. Load them with: source <(${name} completion zsh)

# Words of a list, with commas between them.
${Object.entries(lists)
  .map(
    ([list, values]) =>
      `_robots_filter_${list}() {\n  compset -P '*,'\n  compadd -- ${values.map(quoted).join(' ')}\n}`,
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
    quoted(`${index === length - 1 ? '*' : index + 1}:${action('argument', value)}`),
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
  return `${both}${quoted(`[${text}]${after}`)}`;
}

/** A message and what completes a value, for `_arguments`. */
function action(name: string, value: Value): string {
  const message = name.replaceAll(':', ' ');
  if (value === 'file') return `${message}:_files`;
  const list = listOf(value);
  if (list !== undefined) return `${message}:_robots_filter_${list}`;
  return Array.isArray(value) ? `${message}:(${value.join(' ')})` : `${message}: `;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
