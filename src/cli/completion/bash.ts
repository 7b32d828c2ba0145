import {
  type CommandWords,
  listOf,
  type OptionWords,
  type ProgramWords,
  type Value,
} from './command-words.js';

/** Completions for bash 4 or later. */
export function bashCompletion(program: ProgramWords): string {
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
${[...commands, program].map((command) => commandCase(command, command === program)).join('\n')}
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

function commandCase(command: CommandWords, isProgram: boolean): string {
  const { name, options } = command;
  const places = command.arguments.length === 0 ? (['text'] as const) : command.arguments;
  const names = options.flatMap(({ short = [], long = [] }) => [short, long].flat());
  const values = options.filter(({ value }) => value !== undefined);
  return `    ${isProgram ? "''" : name})
      options='${names.join(' ')}'
      taking='${values.flatMap(({ short = [], long = [] }) => [short, long].flat()).join(' ')}'
      arguments=(${places.map((value) => `'${words(value)}'`).join(' ')})
${values.length === 0 ? '' : `      case $before in\n${values.map(valueCase).join('\n')}\n      esac\n`}      ;;`;
}

function valueCase({ short, long, value = 'text' }: OptionWords): string {
  const names = [short, long].filter((each) => each !== undefined).join('|');
  return `        ${names}) _robots_filter_value '${words(value)}' "$current"; return ;;`;
}

function words(value: Value): string {
  const list = listOf(value);
  if (list !== undefined) return `list:${list}`;
  return Array.isArray(value) ? value.join(' ') : String(value);
}
