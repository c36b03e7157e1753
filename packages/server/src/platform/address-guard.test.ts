import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import { createAddressGuard, createCheckedLookup, targetOf, validateAddress } from './address-guard.ts'
import type { Resolution } from './resolver.ts'

const closed = createAddressGuard({ allow: [] })

/** Hosts as an attacker writes them. Each of them means an address that is not on the public internet. */
const INSIDE = [
  // Loopback, in every spelling that a C library has ever accepted.
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0X7F.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '0x7f.0x0.0x0.0x1',
  '127.0.0.1.',
  '127.255.255.254',
  '127.0.0.01',
  '0x7f.0.1',
  '00000177.1',
  '%31%32%37.0.0.1',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  '127．1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::0.0.0.1]',
  // Unspecified and "this network".
  '0',
  '0.0.0.0',
  '0x0',
  '00',
  '0.0',
  '0.1.2.3',
  '[::]',
  '[::0.0.0.0]',
  '[0:0:0:0:0:0:0:0]',
  // Private, shared, link-local.
  '10.0.0.5',
  '10.255.255.255',
  '167772165',
  '0x0a000005',
  '012.0.0.5',
  '172.16.0.5',
  '172.31.255.254',
  '2886729733',
  '192.168.1.5',
  '3232235781',
  '0xc0a80105',
  '100.64.0.5',
  '100.127.255.255',
  '169.254.1.1',
  '169.254.255.255',
  // Cloud metadata.
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '[fd00:ec2::254]',
  '100.100.100.200',
  '169.254.170.2',
  '168.63.129.16',
  '192.0.0.192',
  '[::ffff:169.254.169.254]',
  '[::a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::1]',
  '[fd20:ce::254]',
  '[::ffff:168.63.129.16]',
  // Benchmarking, documentation, protocol assignments, relays, multicast, reserved, broadcast.
  '198.18.0.5',
  '198.19.255.255',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.5',
  '192.0.0.1',
  '192.88.99.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.175.48.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '4294967295',
  // IPv6 of the same kinds.
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[ff02::1]',
  '[ff0e::1]',
  '[100::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[2001:2::1]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[5f00::1]',
  '[4000::1]',
  '[1::1]',
  '[8000::1]',
  '[::2]',
  '[200::1]',
  // IPv4 wrapped in IPv6.
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:10.0.0.5]',
  '[::ffff:0:0]',
  '[::ffff:100.64.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::10.0.0.5]',
  '[::c0a8:105]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::10.0.0.5]',
  '[64:ff9b:1::1]',
  '[64:ff9b:1::8.8.8.8]',
  '[64:ff9b:1:7f00:0:100::]',
  '[2002:7f00:1::1]',
  '[2002:a00:5::]',
  '[2002:808:808::1]',
  '[2001:0:7f00:1::]',
  '[2001::1]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  '[::ffff:0:127.0.0.1]',
  '[::ffff:0:7f00:1]',
] as const

/** The literal address to which a URL would connect. */
function literalOf(host: string): string {
  const target = targetOf(`https://${host}/hook`)
  assert.ok(typeof target !== 'string', `${host} is no URL`)
  const literal = new URL(target.origin).hostname.replace(/^\[|\]$/g, '')
  assert.notEqual(isIP(literal), 0, `${host} became the name ${literal}`)
  return literal
}

test('none of over a hundred spellings of an internal address gets through', () => {
  assert.ok(new Set(INSIDE).size >= 100)
  const passed = INSIDE.filter((host) => closed.refuses(literalOf(host)) === undefined)
  assert.deepEqual(passed, [])
})

test('public addresses pass for https but not for http', () => {
  const outside = [
    '8.8.8.8',
    '1.1.1.1',
    '93.184.215.14',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '223.255.255.255',
    '11.0.0.1',
    '169.253.1.1',
    '192.167.1.1',
    '198.17.1.1',
    '2606:4700:4700::1111',
    '2a00:1450:4001::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '::8.8.8.8',
  ]
  assert.deepEqual(
    outside.filter((address) => validateAddress(closed, address, 'https:') !== undefined),
    [],
  )
  assert.deepEqual(
    outside.filter((address) => validateAddress(closed, address, 'http:') === undefined),
    [],
  )
})

test('text that is not exactly an address is refused, so that no second parser can read it differently', () => {
  const odd = [
    '',
    'example.com',
    '127.1',
    '0177.0.0.1',
    '8.8.8',
    '8.8.8.8 ',
    '08.8.8.8',
    'fe80::1%eth0',
    '2606:4700::1%1',
    '[::1]',
  ]
  assert.deepEqual(
    odd.filter((address) => closed.refuses(address) === undefined),
    [],
  )
})

test('an allow range opens exactly its own addresses, also for http, in every wrapped form', () => {
  const guard = createAddressGuard({ allow: ['10.1.0.0/16', 'fd12::/16', '127.0.0.1', '::ffff:192.168.7.0/120'] })
  const open = ['10.1.0.0', '10.1.255.255', '::ffff:10.1.2.3', '64:ff9b::10.1.2.3', 'fd12::1', '192.168.7.9']
  const shut = ['10.0.255.255', '10.2.0.0', 'fd13::1', '127.0.0.2', '::1', '192.168.8.1', '2002:a01:203::1']
  assert.deepEqual(
    open.filter((address) => validateAddress(guard, address, 'http:') !== undefined),
    [],
  )
  assert.deepEqual(
    shut.filter((address) => validateAddress(guard, address, 'https:') === undefined),
    [],
  )
  assert.equal(guard.allowsPlainHttp('8.8.8.8'), false)
})

test('no allow range opens cloud metadata or a tunnel', () => {
  const guard = createAddressGuard({ allow: ['0.0.0.0/0', '::/0'] })
  const never = [
    '169.254.169.254',
    '100.100.100.200',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '64:ff9b:1::a9fe:a9fe',
    '2001:0:a9fe:a9fe::1',
    '::ffff:0:169.254.169.254',
  ]
  assert.deepEqual(
    never.filter((address) => guard.refuses(address) === undefined),
    [],
  )
  assert.deepEqual(
    never.filter((address) => guard.allowsPlainHttp(address)),
    [],
  )
  assert.equal(guard.refuses('127.0.0.1'), undefined)
})

test('an allow entry that is not a range stops the start with an error that names it', () => {
  for (const entry of ['10/8', '10.0.0.0/33', '::/129', 'internal', '10.0.0.0/8/8', '10.0.0.0/', '10.0.0.0/-1', '']) {
    assert.throws(() => createAddressGuard({ allow: [entry] }), new RegExp(`"${entry}" is not an address range`))
  }
})

test('a URL must be http or https with a host, without a user name, on an existing port', () => {
  const refused = [
    '',
    'hook',
    '//example.com',
    'ftp://example.com',
    'file:///etc/passwd',
    'gopher://example.com',
    'javascript:1',
    'data:,x',
    'unix:/run/docker.sock',
    'http://',
    'https://user@example.com',
    'https://user:pw@example.com',
    'https://:pw@example.com',
    'https://example.com:0',
    'https://example.com:65536',
    'https://example.com:x',
    'https://a..b',
    'https://1.2.3.4..',
    'https://.',
    'https://.example.com',
    'https://exa mple.com',
    'https://[::1',
    'https://[fe80::1%25eth0]',
    'https://256.1.1.1',
    'https://0x7f.0.0.0.1',
    'https://a\0b',
    'https://8.8.8.8#@[',
  ]
  const called = refused.filter((url) => typeof targetOf(url) !== 'string')
  assert.deepEqual(called, ['https://8.8.8.8#@['], 'a fragment is dropped')
  const plain = { origin: 'https://hooks.example.com:8443', path: '/a%20b?c=d' }
  assert.deepEqual(targetOf('HTTPS://Hooks.Example.com.:8443/a b?c=d#e'), plain)
  const slashed = { origin: 'https://good.example', path: '/@evil.example/' }
  assert.deepEqual(targetOf('https://good.example\\@evil.example/'), slashed)
})

/** The answer of the lookup to the socket for one resolution: its addresses, or the code of its refusal. */
function looked(resolution: Resolution, protocol = 'https:'): Promise<unknown> {
  const guard = createAddressGuard({ allow: ['127.0.0.0/8'] })
  const lookup = createCheckedLookup(guard, { resolve: async () => resolution, close: () => undefined }, protocol)
  return new Promise((resolve) => {
    lookup('name', { all: true }, (error, found) => {
      resolve(error === null ? found : error.code)
    })
  })
}

test('one bad address in a DNS answer blocks the name, and for local names only the good addresses are used', async () => {
  const mixed = ['8.8.8.8', 'fd00::1']
  const local = ['127.0.0.1', '::1']
  assert.equal(await looked({ kind: 'addresses', source: 'dns', addresses: mixed }), 'blocked_address')
  assert.equal(await looked({ kind: 'addresses', source: 'dns', addresses: local }), 'blocked_address')
  const found = await looked({ kind: 'addresses', source: 'local', addresses: local })
  assert.deepEqual(found, [{ address: '127.0.0.1', family: 4 }])
  assert.equal(await looked({ kind: 'addresses', source: 'local', addresses: ['::1'] }), 'blocked_address')
  assert.equal(await looked({ kind: 'addresses', source: 'dns', addresses: [] }), 'blocked_address')
  assert.equal(await looked({ kind: 'failure', detail: 'gone' }), 'dns_failed')
})

test('http requires every address to be allow-listed, and https does not', async () => {
  const both: Resolution = { kind: 'addresses', source: 'dns', addresses: ['127.0.0.1', '8.8.8.8'] }
  assert.equal(await looked(both, 'http:'), 'blocked_address')
  const found = [
    { address: '127.0.0.1', family: 4 },
    { address: '8.8.8.8', family: 4 },
  ]
  assert.deepEqual(await looked(both, 'https:'), found)
})

test('all of a hundred addresses are checked, and at most 16 are used', async () => {
  const many = Array.from({ length: 100 }, (_value, index) => `8.8.8.${index}`)
  const found = await looked({ kind: 'addresses', source: 'dns', addresses: many })
  assert.equal(Array.isArray(found) && found.length, 16)
  assert.equal(await looked({ kind: 'addresses', source: 'dns', addresses: [...many, '10.0.0.1'] }), 'blocked_address')
})
