import { type CommandWords, listOf, type OptionWords, type ProgramWords } from './command-words.js';

/** Completions for PowerShell 5.1 or later. PowerShell itself completes the names of files. */
export function powershellCompletion(program: ProgramWords): string {
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
  const own = named === undefined ? [] : [`    ${quoted(`${name} ${name}`)} { $${named} }`];
  return own.concat(
    options.flatMap(({ short, long, value }) => {
      if (value === undefined || typeof value === 'string') return [];
      const words = Array.isArray(value) ? list(value) : `$${listOf(value)}`;
      return [short, long].flatMap((option) =>
        option === undefined
          ? []
          : [`    ${quoted(`${isProgram ? '' : name} ${option}`)} { ${words} }`],
      );
    }),
  );
}

function options({ name, options }: CommandWords, isProgram: boolean): string {
  const pairs = options.flatMap((option) => optionPairs(option)).join('\n');
  return `    ${quoted(isProgram ? '' : name)} { @(\n${pairs}\n    ) }`;
}

function optionPairs({ short, long, summary }: OptionWords): string[] {
  return [short, long].flatMap((option) => (option === undefined ? [] : [pair(option, summary)]));
}

function pair(name: string, summary: string): string {
  return `      , @(${quoted(name)}, ${quoted(summary)})`;
}

function list(words: readonly string[]): string {
  return `@(${words.map(quoted).join(', ')})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
