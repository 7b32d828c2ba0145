import { validateHeaderValue } from 'node:http';
import { describe, expect, it } from 'vitest';
import { userAgentFault } from '../../src/fetch/limits.js';

describe('a user agent', () => {
  it.each([
    'MyBot',
    'MyBot/1.0 (+https://example.com/bot)',
    'Mozilla/5.0 (compatible; MyBot/1.0; +http://example.com/)',
    'my-bot_x',
    '360Spider/2',
    `a${'b'.repeat(1023)}`,
  ])('may be %j', (text) => {
    expect(userAgentFault(text)).toBeUndefined();
    validateHeaderValue('user-agent', text);
  });

  it.each([
    ['', 'It is empty'],
    [' ', 'Character 1 is " "'],
    [' MyBot', 'Character 1 is " "'],
    ['(MyBot)', 'Character 1 is "("'],
    ['/1.0', 'Character 1 is "/"'],
    ['1.0', 'no letter'],
    ['MyBot\n', 'Character 6 is U+000A;'],
    ['MyBot\r\nCookie: a=b', 'Character 6 is U+000D;'],
    ['My\tBot', 'Character 3 is U+0009;'],
    ['My\u007fBot', 'Character 3 is U+007F;'],
    ['MyBot é', 'Character 7 is U+00E9;'],
    ['MyBot \u{1f4da}\u0007', 'Character 7 is U+1F4DA;'],
    ['MyBot \udc00', 'Character 7 is U+DC00;'],
    ['a'.repeat(1025), 'It has 1025 characters'],
  ])('is refused with a reason and a remedy: %j', (text, reason) => {
    const fault = userAgentFault(text) ?? '';
    expect(fault).toContain(reason);
    expect(fault).toMatch(/such as MyBot|at most 1024/);
  });
});
