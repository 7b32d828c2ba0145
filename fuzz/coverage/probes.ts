/**
 * Adds probes to a WebAssembly module in its folded text form, as binaryen prints it. There is a
 * probe at the start of every function and of every loop iteration, and in each arm of every `if`,
 * including missing arms. The kernel is compiled without optimisation for this, so that every
 * condition of the source, `&&` and `||` too, is such an `if`. A probe adds one, up to 255, to a
 * byte of memory.
 */

type Node = string | Node[];

/**
 * The module's text with probes that count from the byte `address` on, and the number of probes.
 */
export function withProbes(text: string, address: number): { text: string; probes: number } {
  let probes = 0;
  const probe = (): Node => {
    const place: Node = ['i32.const', String(address + probes++)];
    const count: Node = ['i32.load8_u', place];
    return ['i32.store8', place, ['i32.add', count, ['i32.lt_u', count, ['i32.const', '255']]]];
  };
  const insert = (node: Node): void => {
    if (typeof node === 'string') return;
    if (node[0] === 'func' || node[0] === 'loop') {
      node.splice(endOfHeader(node), 0, probe());
    } else if (node[0] === 'if') {
      const arms = node.filter((child) => child[0] === 'then' || child[0] === 'else') as Node[][];
      for (const arm of arms) arm.splice(1, 0, probe());
      if (arms.length === 1) node.push(['else', probe()]);
    }
    for (const child of node) insert(child);
  };
  const module = parse(text);
  // Types and imports contain a `func` that is not a function.
  for (const field of module) if (field[0] === 'func') insert(field);
  return { text: printed(module), probes };
}

const HEADER_WORDS = ['type', 'param', 'result', 'local', 'export'];

/**
 * Index of the first instruction of a function or block: after names, parameters, results and
 * locals.
 */
function endOfHeader(node: readonly Node[]): number {
  let index = 1;
  for (; index < node.length; index++) {
    const child = node[index];
    if (typeof child !== 'string' && !HEADER_WORDS.includes(String(child?.[0]))) break;
  }
  return index;
}

/** The one expression of the text as a tree. */
function parse(text: string): Node {
  const open: Node[][] = [[]];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '(') {
      const node: Node[] = [];
      open.at(-1)?.push(node);
      open.push(node);
      at++;
    } else if (character === ')') {
      open.pop();
      at++;
    } else if (character <= ' ') {
      at++;
    } else {
      const end = endOfWord(text, at);
      open.at(-1)?.push(text.slice(at, end));
      at = end;
    }
  }
  const module = open[0]?.[0];
  if (open.length !== 1 || module === undefined) throw new Error('the text is not a module');
  return module;
}

/** The index after the word or quoted string at `at`. */
function endOfWord(text: string, at: number): number {
  let end = at + 1;
  if (text.charAt(at) === '"') {
    while (text.charAt(end) !== '"') end += text.charAt(end) === '\\' ? 2 : 1;
    return end + 1;
  }
  while (end < text.length && !'() \n'.includes(text.charAt(end))) end++;
  return end;
}

function printed(node: Node): string {
  return typeof node === 'string' ? node : `(${node.map(printed).join(' ')})`;
}
