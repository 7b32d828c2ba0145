import {
  type CommandWords,
  listOf,
  type OptionWords,
  type ProgramWords,
  type Value,
} from './command-words.js';

/** Completions for fish. */
export function fishCompletion(program: ProgramWords): string {
  const { name, commands, lists } = program;
  const names = commands.map((each) => each.name).join(' ');
  const none = `not __fish_seen_subcommand_from ${names}`;
  return `# Completions of ${name} for fish. Load them with: ${name} completion fish | source

${Object.entries(lists)
  .map(
    ([list, values]) =>
      `function __robots_filter_${list}; printf '%s\\n' ${values.map(quoted).join(' ')}; end`,
  )
  .join('\n')}

complete -c ${name} -e
${commands
  .map(
    (each) =>
      `complete -c ${name} -n __fish_use_subcommand -a ${each.name} -d ${quoted(each.summary)}`,
  )
  .join('\n')}
${lines(name, program, none)}
${commands.map((each) => lines(name, each, `__fish_seen_subcommand_from ${each.name}`)).join('\n')}
`;
}

function lines(program: string, command: CommandWords, condition: string): string {
  const start = `complete -c ${program} -n ${quoted(condition)}`;
  const hasFiles = command.arguments.includes('file');
  const own = command.arguments.flatMap((value) => {
    const words = wordsOf(value);
    return words === undefined ? [] : [`${start} -a ${words}`];
  });
  const none = hasFiles ? [] : [`${start} -f`];
  return [...command.options.map((option) => `${start} ${words(option)}`), ...own, ...none].join(
    '\n',
  );
}

/** The words that a value may be, or a function that prints them; `undefined` for other values. */
function wordsOf(value: Value): string | undefined {
  const list = listOf(value);
  if (list !== undefined) return quoted(`(__fish_complete_list , __robots_filter_${list})`);
  return Array.isArray(value) ? quoted(value.join(' ')) : undefined;
}

function words({ short, long, summary, value }: OptionWords): string {
  const names = [
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
  ];
  return [...names, ...valueWords(value), '-d', quoted(summary)].join(' ');
}

function valueWords(value: Value | undefined): readonly string[] {
  if (value === undefined) return [];
  if (value === 'file') return ['-r', '-F'];
  const words = wordsOf(value);
  return words === undefined ? ['-x'] : ['-x', '-a', words];
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
