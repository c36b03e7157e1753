import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { NXDOMAIN, SERVFAIL } from '../../chaos/dns-wire.ts'
import { createResolver } from '../../src/platform/resolver.ts'
import type { ResolverOptions } from '../../src/platform/resolver.ts'
import { aNameServer, type Answer } from '../stage/name-server.ts'

/** A resolver with a clock that the test sets, and without a hosts file unless the test names one. */
function aResolver(t: TestContext, options: ResolverOptions) {
  const clock = { ms: 0 }
  const resolver = createResolver({ hostsFile: '/nonexistent', now: () => clock.ms, timeoutMs: 1_500, ...options })
  t.after(() => resolver.close())
  return { clock, resolve: resolver.resolve }
}

test('the resolver asks for both families and returns every address, IPv4 first', async (t) => {
  const [four, six] = [['8.8.8.8', '8.8.4.4'], ['2606:4700::1111']]
  const { servers } = await aNameServer(t, ({ family }) => ({ addresses: family === 4 ? four : six }))
  const { resolve } = aResolver(t, { servers })
  const addresses = [...four, ...six]
  assert.deepEqual(await resolve('Hooks.Example.com.'), { kind: 'addresses', source: 'dns', addresses })
})

test('a name with only one family resolves', async (t) => {
  const { servers } = await aNameServer(t, ({ family }) => ({ addresses: family === 4 ? [] : ['fd00::1'] }))
  const { resolve } = aResolver(t, { servers })
  assert.deepEqual(await resolve('six.example'), { kind: 'addresses', source: 'dns', addresses: ['fd00::1'] })
})

test('a name server that drops AAAA questions costs the timeout, and the name still resolves', async (t) => {
  const { servers } = await aNameServer(t, ({ family }) => (family === 4 ? { addresses: ['8.8.8.8'] } : 'silence'))
  const { resolve } = aResolver(t, { servers, timeoutMs: 300 })
  assert.deepEqual(await resolve('half.example'), { kind: 'addresses', source: 'dns', addresses: ['8.8.8.8'] })
})

test('NXDOMAIN, no data, SERVFAIL and silence are failures with a sentence, never exceptions', async (t) => {
  const answers: Record<string, Answer> = {
    'gone.example': { rcode: NXDOMAIN },
    'empty.example': {},
    'broken.example': { rcode: SERVFAIL },
    'mute.example': 'silence',
  }
  const { servers } = await aNameServer(t, ({ name }) => answers[name] ?? {})
  const { resolve } = aResolver(t, { servers, timeoutMs: 600 })
  const details = await Promise.all(
    [...Object.keys(answers), 'a'.repeat(64), 'a.'.repeat(200)].map(async (name) => {
      const resolution = await resolve(name)
      return resolution.kind === 'failure' ? resolution.detail : resolution.kind
    }),
  )
  assert.match(details[0] ?? '', /no address/)
  assert.match(details[1] ?? '', /no address/)
  assert.match(details[2] ?? '', /failed to answer/)
  assert.match(details[3] ?? '', /in time/)
  assert.match(details[4] ?? '', /failed to answer/)
  assert.match(details[5] ?? '', /failed to answer/)
})

test('a look-up that no name server answers ends after the timeout, however many name servers there are', async (t) => {
  const silent = await Promise.all([1, 2, 3].map(() => aNameServer(t, () => 'silence')))
  const { resolve } = aResolver(t, { servers: silent.flatMap(({ servers }) => servers), timeoutMs: 300 })
  const resolution = await resolve('mute.example')
  assert.match(resolution.kind === 'failure' ? resolution.detail : resolution.kind, /in time/)
})

/** A port of loopback without a listener. */
async function aClosedPort(): Promise<string> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(resolve))
  return `127.0.0.1:${port}`
}

test('when one of two name servers is dead, the resolver asks the other one and gets the addresses', async (t) => {
  const silent = await aNameServer(t, () => 'silence')
  const good = await aNameServer(t, ({ family }) => ({ addresses: family === 4 ? ['192.0.2.1'] : ['2001:db8::1'] }))
  for (const dead of [...silent.servers, await aClosedPort()]) {
    for (const servers of [
      [dead, ...good.servers],
      [...good.servers, dead],
    ]) {
      // The resolver gives up on a dead server after a third of the timeout, or immediately.
      const { resolve } = aResolver(t, { servers, timeoutMs: 6_000 })
      // oxlint-disable-next-line no-await-in-loop -- one resolver after the other
      assert.deepEqual(await resolve('a.test'), {
        kind: 'addresses',
        source: 'dns',
        addresses: ['192.0.2.1', '2001:db8::1'],
      })
    }
  }
  assert.ok(silent.asked.length > 0)
})

test('when every name server is dead the look-up fails and reports it, after the timeout at the latest', async (t) => {
  const [one, two] = [await aNameServer(t, () => 'silence'), await aNameServer(t, () => 'silence')]
  const silent = aResolver(t, { servers: [...one.servers, ...two.servers] })
  assert.deepEqual(await silent.resolve('a.test'), {
    kind: 'failure',
    detail: 'The name servers did not respond in time.',
  })
  assert.ok(one.asked.length > 0 && two.asked.length > 0, 'each server was asked')
  const refusing = aResolver(t, { servers: [await aClosedPort(), await aClosedPort()] })
  assert.deepEqual(await refusing.resolve('a.test'), {
    kind: 'failure',
    detail: 'The name servers failed to answer (ECONNREFUSED).',
  })
})

test('a hundred simultaneous callers cause one question', async (t) => {
  const { servers, asked } = await aNameServer(t, () => ({ addresses: [] }))
  const { resolve } = aResolver(t, { servers })
  await Promise.all(Array.from({ length: 100 }, () => resolve('busy.example')))
  assert.deepEqual(asked.toSorted(), ['busy.example 4', 'busy.example 6'])
})

test('an answer is cached for its TTL, at least 5 s and at most 300 s; a failure is cached for 5 s', async (t) => {
  const ttls: Record<string, number> = { 'zero.example': 0, 'minute.example': 60, 'week.example': 604_800 }
  const { servers, asked } = await aNameServer(t, ({ name, family }) =>
    name in ttls ? { ttl: ttls[name] ?? 0, addresses: family === 4 ? ['8.8.8.8'] : [] } : { rcode: NXDOMAIN },
  )
  const lives = { 'zero.example': 5, 'minute.example': 60, 'week.example': 300, 'gone.example': 5 }
  for (const [name, seconds] of Object.entries(lives)) {
    const { clock, resolve } = aResolver(t, { servers })
    const times = (): number => asked.filter((one) => one === `${name} 4`).length
    await resolve(name)
    clock.ms = seconds * 1_000 - 1
    await resolve(name)
    assert.equal(times(), 1, `${name} before`)
    clock.ms = seconds * 1_000 + 1
    await resolve(name)
    assert.equal(times(), 2, `${name} after`)
  }
})

test('a name that moves resolves to its new address: nothing below the cache remembers the first answer', async (t) => {
  const { servers } = await aNameServer(t, ({ family, nth }) => ({
    ttl: 3_600,
    addresses: family === 4 ? [`8.8.8.${nth}`] : [],
  }))
  const { clock, resolve } = aResolver(t, { servers, ttlSecondsMax: 10 })
  assert.deepEqual(await resolve('moving.example'), { kind: 'addresses', source: 'dns', addresses: ['8.8.8.1'] })
  clock.ms = 10_001
  assert.deepEqual(await resolve('moving.example'), { kind: 'addresses', source: 'dns', addresses: ['8.8.8.2'] })
})

test('the cache drops its oldest name when it is full', async (t) => {
  const { servers, asked } = await aNameServer(t, () => ({ rcode: NXDOMAIN }))
  const { resolve } = aResolver(t, { servers, entriesMax: 2 })
  for (const name of ['a.test', 'b.test', 'c.test', 'c.test', 'b.test', 'a.test']) await resolve(name)
  assert.deepEqual(
    asked.filter((one) => one.endsWith('4')),
    ['a.test 4', 'b.test 4', 'c.test 4', 'a.test 4'],
  )
})

test('localhost and all names below it are loopback, and no name server is asked for them', async (t) => {
  const { servers, asked } = await aNameServer(t, () => ({ addresses: ['8.8.8.8'] }))
  const { resolve } = aResolver(t, { servers })
  for (const name of ['localhost', 'LOCALHOST.', 'app.localhost', 'a.b.localhost.']) {
    assert.deepEqual(await resolve(name), { kind: 'addresses', source: 'local', addresses: ['127.0.0.1', '::1'] })
  }
  assert.deepEqual(asked, [])
})

test('the hosts file comes before DNS and is read again when it has changed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postroad-hosts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const hostsFile = join(folder, 'hosts')
  writeFileSync(hostsFile, '# 10.0.0.9 db\n10.0.0.5\tDB db.internal # the database\r\nfd00::5 db\nnonsense db\n')
  const { servers } = await aNameServer(t, () => ({ rcode: NXDOMAIN }))
  const { clock, resolve } = aResolver(t, { servers, hostsFile })
  assert.deepEqual(await resolve('db'), { kind: 'addresses', source: 'local', addresses: ['10.0.0.5', 'fd00::5'] })
  assert.deepEqual(await resolve('DB.internal.'), { kind: 'addresses', source: 'local', addresses: ['10.0.0.5'] })
  assert.equal((await resolve('web')).kind, 'failure')
  writeFileSync(hostsFile, '10.0.0.6 db\n')
  utimesSync(hostsFile, 1, 1)
  clock.ms = 1_001
  assert.deepEqual(await resolve('db'), { kind: 'addresses', source: 'local', addresses: ['10.0.0.6'] })
  rmSync(hostsFile)
  clock.ms = 2_002
  assert.equal((await resolve('db')).kind, 'failure')
})
