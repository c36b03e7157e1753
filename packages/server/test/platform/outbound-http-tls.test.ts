import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { aDoor, anHttpServer, aSink, dns, listening, OK, resolverSaying, until } from '../stage/outbound-door.ts'
import { transportOf } from '../../src/platform/outbound-http.ts'

let folder = ''
const certificates: Record<string, { readonly key: string; readonly cert: string }> = {}

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'postroad-tls-'))
  const openssl = (...words: string[]): void =>
    void execFileSync('openssl', words.join(' ').split(' '), { cwd: folder, stdio: 'pipe' })
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  const forHooks = '-addext subjectAltName=DNS:hooks.example'
  openssl(`req -x509 ${newKey} -keyout ca.key -out ca.crt -subj /CN=ca -days 2`)
  openssl(`req -x509 ${newKey} -keyout self.key -out self.crt -subj /CN=self -days 2`, forHooks)
  for (const [name, days] of [
    ['good', '2'],
    ['expired', '-1'],
  ] as const) {
    openssl(`req ${newKey} -keyout ${name}.key -out ${name}.csr -subj /CN=${name}`, forHooks)
    const byCa = '-CA ca.crt -CAkey ca.key -CAcreateserial -copy_extensions copy'
    openssl(`x509 -req -in ${name}.csr -out ${name}.crt -days ${days}`, byCa)
  }
  for (const name of ['ca', 'self', 'good', 'expired']) {
    const read = (kind: string): string => readFileSync(join(folder, `${name}.${kind}`), 'utf8')
    certificates[name] = { key: read('key'), cert: read('crt') }
  }
})
after(() => rmSync(folder, { recursive: true }))

async function aTlsSink(t: TestContext, name: string) {
  const seen: { servername: unknown; text: string } = { servername: undefined, text: '' }
  const server = createTlsServer({ ...certificates[name] }, (socket: TLSSocket) => {
    seen.servername = socket.servername
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        seen.text += chunk.toString()
        socket.end(OK)
      })
  })
  return { port: await listening(t, server), seen }
}

function aSecureDoor(t: TestContext) {
  return aDoor(t, { resolver: resolverSaying(dns('127.0.0.1')), ca: certificates['ca']?.cert ?? '' })
}

test('over TLS the client asks for the host name of the URL, and the server proves that name', async (t) => {
  const { port, seen } = await aTlsSink(t, 'good')
  assert.equal((await aSecureDoor(t).ask(`https://hooks.example.:${port}/`)).body, 'ok')
  assert.equal(seen.servername, 'hooks.example')
  assert.match(seen.text, new RegExp(`host: hooks\\.example:${port}\\r\\n`))
})

test('an expired, self-signed or untrusted certificate, or one for another name, is tls_failed with its reason', async (t) => {
  // Node warns about this setting, which is the subject of the test.
  const warned = process.listeners('warning')
  process.removeAllListeners('warning')
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.after(() => {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    for (const listener of warned) process.on('warning', listener)
  })
  const cases = [
    ['expired', 'hooks.example', /expired/],
    ['self', 'hooks.example', /self-signed/],
    ['good', 'other.example', /a different host/],
    ['good', '127.0.0.1', /a different host/],
  ] as const
  for (const [name, host, reason] of cases) {
    const { port, seen } = await aTlsSink(t, name)
    const said = await aSecureDoor(t).ask(`https://${host}:${port}/`)
    assert.deepEqual([said.code, seen.text], ['tls_failed', ''], `${name} ${host}`)
    assert.match(said.detail ?? '', reason)
  }
  const { port } = await aTlsSink(t, 'good')
  const strangers = aDoor(t, { resolver: resolverSaying(dns('127.0.0.1')) })
  assert.equal((await strangers.ask(`https://hooks.example:${port}/`)).code, 'tls_failed')
})

test('a server without TLS is tls_failed, and a server that closes the connection during the handshake is connection_reset', async (t) => {
  const plain = await anHttpServer(t, (_request, response) => response.end())
  const rude = await listening(
    t,
    createServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
  )
  const { ask } = aSecureDoor(t)
  assert.equal((await ask(`https://hooks.example:${plain}/`)).code, 'tls_failed')
  assert.equal((await ask(`https://hooks.example:${rude}/`)).code, 'connection_reset')
  assert.equal((await aDoor(t).ask(`http://127.0.0.1:${(await aTlsSink(t, 'good')).port}/`)).code, 'connection_reset')
})

/** Answers 200 to every CONNECT and forwards nothing. */
async function aDeafProxy(t: TestContext) {
  const { port, seen } = await aSink(t, (socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n'))
  return { seen, through: (host: string) => transportOf({ tls: null, proxy: { url: `http://${host}:${port}` } }) }
}

test('the guard applies through a proxy: Postroad checks the address of a host name itself, and the proxy never sees a refused one', async (t) => {
  const { seen, through } = await aDeafProxy(t)
  for (const [addresses, code] of [
    [['10.0.0.1'], 'blocked_address'],
    [['1.1.1.1', '169.254.169.254'], 'blocked_address'],
  ] as const) {
    const { ask } = aDoor(t, { resolver: resolverSaying(dns(...addresses)) })
    const said = await ask('https://inside.example/', { transport: through('127.0.0.1') })
    assert.equal(said.code, code)
  }
  const { ask } = aDoor(t)
  for (const url of ['https://10.0.0.1/', 'https://[::ffff:10.0.0.1]/', 'http://1.1.1.1/'])
    assert.equal((await ask(url, { transport: through('127.0.0.1') })).code, 'blocked_address', url)
  assert.deepEqual(seen, { sockets: 0, requests: 0, text: '' })
})

test('a proxy must have an allowed address; plain http through it is only for https destinations, or to allowed addresses', async (t) => {
  const { through } = await aDeafProxy(t)
  const { ask } = aDoor(t, { resolver: resolverSaying(dns('10.0.0.1')) })
  const said = await ask('https://1.1.1.1/', { transport: through('proxy.example') })
  assert.deepEqual([said.code, said.detail?.startsWith('The proxy cannot be used. ')], ['blocked_address', true])
  const literal = await aDoor(t).ask('http://127.0.0.1/', { transport: through('1.1.1.1') })
  assert.deepEqual(
    [literal.code, literal.detail],
    ['blocked_address', 'The proxy cannot be used. Plain http is not allowed to this address; use https.'],
  )
})

test('CONNECT names the checked address, and an aborted request releases the proxy connection', async (t) => {
  const { port, seen } = await aSink(t, () => undefined)
  const { ask, stats } = aDoor(t, { resolver: resolverSaying(dns('1.1.1.1')) })
  const off = new AbortController()
  const transport = transportOf({ tls: null, proxy: { url: `http://127.0.0.1:${port}`, username: 'u', password: 'p' } })
  const asked = ask('https://hooks.example/', { transport, signal: off.signal })
  await until(() => seen.requests === 1)
  assert.match(seen.text, /^CONNECT 1\.1\.1\.1:443 HTTP\/1\.1\r\n/)
  assert.match(seen.text, /proxy-authorization: Basic dTpw\r\n/i)
  assert.doesNotMatch(seen.text, /hooks/)
  off.abort()
  assert.equal((await asked).code, 'timeout')
  await until(() => stats().connections === 0)
})
