import type { CommandWords, OptionWords, ProgramWords, Value } from './command-words.js';

/** Completions for fish. */
export function fishCompletion(program: ProgramWords): string {
  const { name, commands } = program;
  const names = commands.map((each) => each.name).join(' ');
  const none = `not __fish_seen_subcommand_from ${names}`;
  return `# Completions of ${name} for fish. Load them with: ${name} completion fish | source

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

function lines(program: string, { options, argument }: CommandWords, condition: string): string {
  const start = `complete -c ${program} -n ${quoted(condition)}`;
  const own = Array.isArray(argument) ? [`${start} -f -a ${quoted(argument.join(' '))}`] : [];
  const none = argument === undefined || argument === 'text' ? [`${start} -f`] : [];
  return [...options.map((option) => `${start} ${words(option)}`), ...own, ...none].join('\n');
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
  return value === 'text' ? ['-x'] : ['-x', '-a', quoted(value.join(' '))];
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
