import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environmentProxy, proxyName } from './environment-proxy.ts'

const through = (to: string, env: Record<string, string>): string | undefined =>
  environmentProxy(new URL(to), env)?.url.href
const PROXY = { HTTPS_PROXY: 'http://secure:3128', HTTP_PROXY: 'plain:3128' }
const direct = (host: string, list: string): boolean =>
  through(`https://${host}/`, { ...PROXY, NO_PROXY: list }) === undefined

test('HTTPS_PROXY is for https and wss, HTTP_PROXY for http and ws, and a host with a port is an http proxy', () => {
  assert.equal(through('https://a.example/', PROXY), 'http://secure:3128/')
  assert.equal(through('wss://a.example/', PROXY), 'http://secure:3128/')
  assert.equal(through('http://a.example/', PROXY), 'http://plain:3128/')
  assert.equal(through('ws://a.example/', PROXY), 'http://plain:3128/')
  assert.equal(through('https://a.example/', { HTTP_PROXY: 'http://plain:3128' }), undefined)
})

test('a name in lower case goes before the one in upper case, and an empty one is not set', () => {
  assert.equal(through('https://a.example/', { ...PROXY, https_proxy: 'http://lower:1' }), 'http://lower:1/')
  assert.equal(through('https://a.example/', { ...PROXY, https_proxy: ' ' }), 'http://secure:3128/')
  assert.equal(through('https://a.example/', { ...PROXY, no_proxy: 'a.example' }), undefined)
})

test('loopback is always reached directly', () => {
  for (const host of ['localhost', 'app.localhost', '127.0.0.1', '127.9.9.9', '[::1]'])
    assert.equal(through(`http://${host}:4680/`, PROXY), undefined, host)
  assert.notEqual(through('http://localhost.example/', PROXY), undefined)
})

test('NO_PROXY names hosts with their subdomains, ports, addresses, IPv4 ranges, or everything', () => {
  for (const [host, list] of [
    ['a.example', 'b.example, a.example'],
    ['A.Example.', 'a.example'],
    ['x.a.example', 'a.example'],
    ['x.a.example', '.a.example'],
    ['x.a.example', '*.a.example'],
    ['a.example', 'a.example:443'],
    ['a.example:8443', 'b.example a.example:8443'],
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.3', '10.0.0.0/8'],
    ['200.1.2.3', '200.1.2.0/24'],
    ['[fd00::1]', 'fd00::1'],
    ['[fd00::1]:8443', '[fd00::1]:8443'],
    ['anything.example', '*'],
  ] as const)
    assert.ok(direct(host, list), `${host} in ${list}`)
  for (const [host, list] of [
    ['ba.example', 'a.example'],
    ['a.example', 'a.example:8443'],
    ['11.1.2.3', '10.0.0.0/8'],
    ['10.example', '10.0.0.0/8'],
    ['a.example', ''],
    ['[fd00::1]', 'fd00::2'],
  ] as const)
    assert.ok(!direct(host, list), `${host} in ${list}`)
})

test('a message names the proxy without its password, and another kind of proxy is refused in a sentence', () => {
  const found = environmentProxy(new URL('https://a.example'), { HTTPS_PROXY: 'http://ada:secret@proxy.example:3128' })
  assert.equal(found && proxyName(found), 'http://proxy.example:3128 (HTTPS_PROXY)')
  assert.throws(() => through('https://a.example', { https_proxy: 'socks5://p:1' }), {
    message: 'https_proxy must be the URL of an HTTP proxy, such as http://proxy.example.com:3128.',
  })
})
