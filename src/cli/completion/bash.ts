import type { CommandWords, OptionWords, ProgramWords, Value } from './command-words.js';

/** Completions for bash 4 or later. */
export function bashCompletion(program: ProgramWords): string {
  const { name, commands } = program;
  const names = commands.map((command) => command.name).join('|');
  return `# Completions of ${name} for bash. Load them with: source <(${name} completion bash)

_robots_filter() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  local command= options= arguments=file
  # bash parts --option=value into three words.
  [[ $current == = ]] && current=
  [[ $before == = ]] && before=\${COMP_WORDS[COMP_CWORD-2]}
  if ((COMP_CWORD > 1)); then
    case \${COMP_WORDS[1]} in
      ${names}) command=\${COMP_WORDS[1]} ;;
    esac
  fi
  case $command in
${[...commands, program].map((command) => commandCase(command, command === program)).join('\n')}
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  _robots_filter_value "$arguments" "$current"
  if ((COMP_CWORD == 1)); then
    mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -W '${commands.map((each) => each.name).join(' ')}' -- "$current")
  fi
}

# Completes a value: paths, nothing (text), or one of the words.
_robots_filter_value() {
  case $1 in
    file) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
    text) COMPREPLY=() ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2") ;;
  esac
}

complete -F _robots_filter ${name}
`;
}

function commandCase(
  { name, options, argument = 'text' }: CommandWords,
  isProgram: boolean,
): string {
  const names = options.flatMap(({ short = [], long = [] }) => [short, long].flat());
  const values = options.filter(({ value }) => value !== undefined);
  return `    ${isProgram ? "''" : name})
      options='${names.join(' ')}'
      arguments='${words(argument)}'
${values.length === 0 ? '' : `      case $before in\n${values.map(valueCase).join('\n')}\n      esac\n`}      ;;`;
}

function valueCase({ short, long, value = 'text' }: OptionWords): string {
  const names = [short, long].filter((each) => each !== undefined).join('|');
  return `        ${names}) _robots_filter_value '${words(value)}' "$current"; return ;;`;
}

function words(value: Value): string {
  return typeof value === 'string' ? value : value.join(' ');
}
