import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileIpAllowlist, networkOf } from './ip-range.ts'

const allows = (entries: readonly string[], address: string | undefined): boolean =>
  compileIpAllowlist(entries)?.(address) ?? true

test('an empty list allows every address, even an unknown one', () => {
  assert.equal(compileIpAllowlist([]), undefined)
})

test('an address passes when it is listed or inside a listed range', () => {
  for (const [entry, address, passes] of [
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.9/24', '203.0.113.1', true],
    ['0.0.0.0/0', '8.8.8.8', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '8.8.8.8', false],
    ['::/0', '2001:db8::1', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:DB8::1', '2001:db8:0:0:0:0:0:1', true],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['127.0.0.1', '::1', false],
  ] as const) {
    assert.equal(allows([entry], address), passes, `${address} in ${entry}`)
  }
})

test('an IPv4 address and its IPv4-mapped form are the same, on either side', () => {
  for (const entry of [
    '203.0.113.7',
    '203.0.113.0/24',
    '::ffff:203.0.113.7',
    '::ffff:cb00:7107',
    '::ffff:203.0.113.0/120',
  ]) {
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '::ffff:cb00:7107', '::FFFF:CB00:7107']) {
      assert.equal(allows([entry], address), true, `${address} in ${entry}`)
    }
    assert.equal(allows([entry], '::ffff:198.51.100.1'), false)
  }
})

test('one matching entry is enough, and an unknown address is refused', () => {
  const list = ['198.51.100.1', '2001:db8::/64', '203.0.113.0/28']
  for (const address of ['198.51.100.1', '2001:db8::9', '203.0.113.15']) assert.equal(allows(list, address), true)
  for (const address of [undefined, '', 'unknown', '203.0.113.16', '198.51.100', '0x7f000001x'])
    assert.equal(allows(list, address), false, address)
})

test('for limits, an IPv6 address counts as its /64, and an IPv4 address as itself in either form', () => {
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:db8:1:2::'))
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
  assert.equal(networkOf('fe80::1%eth0'), networkOf('fe80::2'))
  assert.equal(networkOf('::ffff:203.0.113.7'), '203.0.113.7')
  assert.notEqual(networkOf('203.0.113.7'), networkOf('203.0.113.8'))
  for (const address of [undefined, '', 'unknown']) assert.equal(networkOf(address), 'unknown')
})
