import { describe, expect, it } from 'vitest';
import { Robots, Table, TableBuilder } from '../../src/library/index.js';

/** A group of so many agents with so many keys in one line. */
function fileOf(agents: number, keys: number): string {
  const names = Array.from({ length: agents }, (_, n) => `User-agent: ${letters(n)}\n`);
  const members = Array.from({ length: keys }, (_, n) => `${letters(n)}=${n % 2 ? 'y' : 'n'}`);
  return `${names.join('')}Content-Usage: ${members.join()}\n`;
}

function letters(number: number): string {
  const digit = String.fromCharCode(97 + (number % 26));
  return number < 26 ? digit : letters(Math.floor(number / 26) - 1) + digit;
}

function tableOf(body: string): Table {
  const builder = new TableBuilder({ signals: true });
  builder.add({ scheme: undefined, host: 'h', port: undefined }, Buffer.from(body), {
    source: 'a',
  });
  return Table.from(builder.build());
}

describe('hostile signals', () => {
  it('of 128 keys for 128 agents are all told apart', async () => {
    const body = fileOf(128, 128);
    const table = tableOf(body);
    await table.verify();
    const robots = Robots.parse(body);
    for (const [agent, key, answer] of [
      ['a', 'a', 'refused'],
      ['a', 'b', 'granted'],
      [letters(127), letters(126), 'refused'],
      [letters(127), letters(127), 'granted'],
      ['nobody', 'a', 'unstated'],
      ['a', 'zzz', 'unstated'],
    ] as const) {
      expect(robots.use('/', agent, key).answer, `${agent} ${key}`).toBe(answer);
      expect(table.use('http://h/', agent, key).answer, `${agent} ${key}`).toBe(answer);
    }
  });

  it('of one more refuse each key that is named, to every agent', async () => {
    const body = `${fileOf(128, 128)}Disallow: /x\n\nUser-agent: more\nContent-Usage: a=y\n`;
    const table = tableOf(body);
    await table.verify();
    const robots = Robots.parse(body);
    for (const [agent, key, answer] of [
      ['a', 'a', 'refused'],
      ['a', 'b', 'refused'],
      ['more', 'a', 'refused'],
      ['more', 'b', 'refused'],
      ['nobody', 'b', 'refused'],
      ['nobody', 'zzz', 'unstated'],
    ] as const) {
      for (const { answer: found, reason, signal } of [
        robots.use('/', agent, key),
        table.use('http://h/', agent, key),
      ]) {
        expect(found, `${agent} ${key}`).toBe(answer);
        // No line says so: the file is beyond the limit.
        expect(signal).toBeUndefined();
        expect(reason).toBe(answer === 'refused' ? 'over-budget' : 'no-signal');
      }
    }
    expect(robots.verdict('/x', 'a').verdict).toBe('deny');
  });

  it('with as many keys as fit into a file end in a table that is no longer than the file', () => {
    const body = fileOf(1, 75_000);
    expect(body.length).toBeGreaterThan(400_000);
    const table = tableOf(body);
    expect(table.bytes.length).toBeLessThan(16 * body.length);
    expect(table.use('http://h/', 'a', 'b').answer).toBe('refused');
  });

  it('in keys about which nobody can ask are left out', () => {
    const robots = Robots.parse(
      `User-agent: *\nContent-Signal: ai train=no, a:b=no, é=no, ${'k'.repeat(65)}=no, 1a=no, ${'k'.repeat(64)}=no\n`,
    );
    expect(robots.use('/', 'a', 'k'.repeat(64)).answer).toBe('refused');
    for (const use of ['ai train', 'a:b', 'é', 'k'.repeat(65), '1a', '', ' ', '*']) {
      expect(() => robots.use('/', 'a', use)).toThrow('is no purpose and no key');
    }
  });

  it('in a robots.txt that cannot be read are none', () => {
    const builder = new TableBuilder({ signals: true });
    const add = (host: string, status: number): void => {
      builder.add(
        { scheme: undefined, host, port: undefined },
        Buffer.from('Content-Signal: a=no'),
        {
          source: host,
          status,
        },
      );
    };
    add('gone', 404);
    add('down', 503);
    const table = Table.from(builder.build());
    expect(table.use('http://gone/', 'a', 'a')).toEqual({
      answer: 'unstated',
      reason: 'no-signal',
    });
    expect(table.use('http://down/', 'a', 'a')).toEqual({
      answer: undefined,
      reason: 'not-allowed',
    });
  });
});
