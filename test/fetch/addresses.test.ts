import { afterAll, describe, expect, it } from 'vitest';
import { addressKey, addressRefusal } from '../../src/base/addresses.js';
import { permittedAddresses } from '../../src/fetch/resolver.js';
import { fetchOnce, Loopback, ROBOTS, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

it('an address has one key, however it is spelt', () => {
  for (const spellings of [
    ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:FFFF:7F00:0001'],
    ['2001:db8::1', '2001:DB8:0:0::1', '2001:0db8:0000:0000:0000:0000:0000:0001'],
    ['fe80::1%eth0', 'FE80:0::1%eth0'],
  ]) {
    expect(new Set(spellings.map(addressKey)).size).toBe(1);
  }
  const others = ['127.0.0.1', '::1', '::7f00:1', 'fe80::1%eth0', 'fe80::1%eth1', 'a', 'b'];
  expect(new Set(others.map(addressKey)).size).toBe(others.length);
});

describe('addresses of the public internet', () => {
  for (const address of [
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
    '::ffff:8.8.8.8',
    '::ffff:808:808',
    '64:ff9b::8.8.8.8',
    '2002:808:808::1',
  ]) {
    it(`${address} is one`, () => expect(addressRefusal(address)).toBeUndefined());
  }

  for (const [address, kind] of [
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['10.255.255.255', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['100.127.255.255', 'carrierGradeNat'],
    // Metadata services of clouds.
    ['169.254.169.254', 'linkLocal'],
    ['169.254.170.2', 'linkLocal'],
    ['100.100.100.200', 'carrierGradeNat'],
    ['192.0.0.192', 'reserved'],
    ['168.63.129.16', 'metadata service'],
    ['fd00:ec2::254', 'uniqueLocal'],
    ['fd20:ce::254', 'uniqueLocal'],
    ['192.0.2.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['fe80::1', 'linkLocal'],
    ['fe80::a9fe:a9fe%eth0', 'linkLocal'],
    ['fc00::1', 'uniqueLocal'],
    ['fec0::1', 'deprecatedSiteLocal'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'reserved'],
    ['2001::1', 'teredo'],
    ['100::1', 'discard'],
    ['4000::1', 'reserved'],
    // An IPv4 address carried in an IPv6 one.
    ['::ffff:127.0.0.1', 'ipv4Mapped, loopback'],
    ['::ffff:a9fe:a9fe', 'ipv4Mapped, linkLocal'],
    ['::ffff:168.63.129.16', 'ipv4Mapped, metadata service'],
    ['::7f00:1', 'reserved'],
    ['::ffff:0:127.0.0.1', 'rfc6145'],
    ['64:ff9b::10.0.0.1', 'nat64, private'],
    ['64:ff9b::a9fe:a9fe', 'nat64, linkLocal'],
    ['64:ff9b:1::8.8.8.8', 'rfc6052'],
    ['2002:7f00:1::', '6to4, loopback'],
    ['2002:a9fe:a9fe::1', '6to4, linkLocal'],
    ['2002:c0a8:101::', '6to4, private'],
    ['', 'not an IP address'],
    ['localhost', 'not an IP address'],
  ] as const) {
    it(`${address} is none: ${kind}`, () => expect(addressRefusal(address)).toBe(kind));
  }
});

describe('hosts that may be connected to', () => {
  const mixed = async () => [
    { address: '10.0.0.1', family: 4 } as const,
    { address: '8.8.8.8', family: 4 } as const,
    { address: '::1', family: 6 } as const,
  ];

  it('are reached under their public addresses alone', async () => {
    expect(await permittedAddresses('mixed.test', mixed, false)).toEqual([
      { address: '8.8.8.8', family: 4 },
    ]);
    expect(await permittedAddresses('mixed.test', mixed, true)).toHaveLength(3);
  });

  it('have no more than eight addresses', async () => {
    const many = async () =>
      Array.from({ length: 1000 }, () => ({ address: '8.8.8.8', family: 4 }) as const);
    expect(await permittedAddresses('many.test', many, false)).toHaveLength(8);
  });
});

describe('the fetcher connects to no private address, unless it is allowed to', () => {
  const refused = unreachable('address-refused');

  for (const host of [
    '127.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    '169.254.169.254',
    '0.0.0.0',
  ]) {
    for (const scheme of ['http', 'https', 'ftp'] as const) {
      it(`${scheme}://${host}`, async () => {
        const server = await loopback.serving(ROBOTS);
        const result = await loopback.fetch(
          {
            scheme,
            host,
            port: server.port,
          },
          { allowPrivate: false },
        );
        expect(result).toMatchObject(refused);
        expect(server.connections).toBe(0);
      });
    }
  }

  it('a name that stands for one', async () => {
    const server = await loopback.serving(ROBOTS);
    const fetcher = loopback.fetcher({
      allowPrivate: false,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    const result = await fetchOnce(fetcher, server.authority('public.test'));
    expect(result).toMatchObject(refused);
    expect(result.error?.message).toContain('public.test is at 127.0.0.1');
    expect(server.connections).toBe(0);
  });

  it('DNS rebinding: a name that was public when it was judged, and is private when it is asked again', async () => {
    const server = await loopback.serving(ROBOTS);
    let questions = 0;
    const fetcher = loopback.fetcher({
      allowPrivate: false,
      connectTimeout: 200,
      // An address of IPv6 that IANA has given to nobody: public by its kind, and nothing is there.
      resolve: async () => [
        questions++ === 0 ? { address: '3000::1', family: 6 } : { address: '127.0.0.1', family: 4 },
      ],
    });
    const authority = server.authority('rebinding.test');
    const first = await fetchOnce(fetcher, authority);
    // One question, and the connection goes to what was answered.
    expect(questions).toBe(1);
    expect(first.accessResult).toBe('unreachable');
    expect(first.error?.code).not.toBe('address-refused');
    const second = await fetchOnce(fetcher, authority);
    expect(questions).toBe(2);
    expect(second).toMatchObject(refused);
    expect(server.connections).toBe(0);
  });

  it('after a redirect too, of any scheme', async () => {
    const inner = await loopback.serving(ROBOTS);
    // The first host is on loopback itself: allowed here, and only here, by the resolver's word for
    // it.
    for (const scheme of ['http', 'https', 'ftp']) {
      const outer = await loopback.redirecting(`${scheme}://inner.test:${inner.port}/`, 302);
      const asked: string[] = [];
      const fetcher = loopback.fetcher({
        resolve: async (host) => {
          asked.push(host);
          // What `permittedAddresses` throws for a refused address, for the second host alone.
          if (host === 'inner.test') await permittedAddresses('127.0.0.1', async () => [], false);
          return [{ address: '127.0.0.1', family: 4 }];
        },
      });
      const result = await fetchOnce(fetcher, outer.authority('outer.test'));
      expect(asked).toEqual(['outer.test', 'inner.test']);
      expect(result.accessResult).toBe('unreachable');
      expect(result.chain).toHaveLength(2);
    }
    expect(inner.connections).toBe(0);
  });
});
