import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { sql } from '../../src/platform/db.ts'
import { aDestination, anIngestKey, aWebhook } from '../stage/fixtures.ts'
import { eventually } from '../stage/harness.ts'
import { sse, webSocket } from '../stage/stream-client.ts'
import {
  METRICS_TOKEN,
  world,
  database,
  sink,
  seen,
  secrets,
  note,
  heard,
  ask,
  onWire,
  lastPart,
  escaped,
  spellings,
  without,
  textsOfTheDatabase,
  leaks,
  onSecretWatch,
} from '../stage/secret-watch.ts'

/**
 * URLs contain credentials. The test sends known ones to every surface in every way that we could think of, validly,
 * invalidly and during failures. It then finds them only where the contract allows them: no log, metric, error or table
 * has one.
 */
onSecretWatch()

const VERIFY_TOKEN = 'verify-token-nobody-may-see'
const VERIFICATION_SECRET = 'verification-secret-nobody-may-see'
const CUSTOM_HEADER = 'custom-header-nobody-may-see'
const AUTH_SECRET = 'auth-secret-nobody-may-see'
const PROXY_PASSWORD = 'proxy-password-nobody-may-see'

/** Every resource with a secret, and the secrets by name. */
async function aScene() {
  const { body: rotated } = await world.admin('POST', `webhooks/${world.installed.webhook.id}/rotate`, {
    overlap_hours: 24,
  })
  const { id: keyId, key } = await anIngestKey(world)
  const signed = await aWebhook(world, {
    slug: 'signed',
    verification: { scheme: 'hmac', secret: VERIFICATION_SECRET },
  })
  const shaken = await aWebhook(world, { handshake: { kind: 'hub_challenge', verify_token: VERIFY_TOKEN } })
  const asked = await aWebhook(world, { handshake: { kind: 'url_verification', verify_token: VERIFY_TOKEN } })
  const off = await aWebhook(world, { enabled: false })
  const { secret } = await aDestination(world, { url: sink.url, headers: { 'X-Custom': CUSTOM_HEADER } })
  const auth = { kind: 'basic', username: 'robot', password: AUTH_SECRET }
  await aDestination(world, { url: sink.url, auth })
  await aDestination(world, {
    url: sink.url,
    auth: { kind: 'oauth2_client_credentials', token_url: sink.url, client_id: 'robot', client_secret: AUTH_SECRET },
  })
  await aDestination(world, {
    url: sink.url,
    auth,
    proxy: { url: sink.url.slice(0, -1), username: 'robot', password: PROXY_PASSWORD },
  })
  const token = new URL(world.installed.sign_in_url).hash.slice(3)
  const session = await world.admin('POST', 'session', { token }, { 'x-requested-with': 'test' })
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
  const admin = { authorization: `Bearer ${world.installed.api_key}` }
  const urls: Readonly<Record<string, string>> = {
    first: world.endpoint,
    rotated: rotated.public_url,
    signed: signed.public_url,
    shaken: shaken.public_url,
    asked: asked.public_url,
    off: off.public_url,
  }
  for (const [name, url] of Object.entries(urls)) secrets.set(`slug of ${name}`, lastPart(url))
  secrets
    .set('ingest key', key)
    .set('admin key', world.installed.api_key)
    .set('signing secret', secret)
    .set('sign-in token', token)
  secrets
    .set('session', cookie.split('=')[1] ?? '')
    .set('metrics token', METRICS_TOKEN)
    .set('verify token', VERIFY_TOKEN)
  secrets
    .set('verification secret', VERIFICATION_SECRET)
    .set('custom header', CUSTOM_HEADER)
    .set('auth secret', AUTH_SECRET)
    .set('proxy password', PROXY_PASSWORD)
  for (const [name, value] of secrets) assert.ok(value.length >= 12, name)
  return { urls, key, keyId, signed, shaken, asked, off, admin, cookie }
}

type Scene = Awaited<ReturnType<typeof aScene>>

/** The headers in which proxies and browsers repeat a URL, with requests that are accepted. */
const passedOn = ({ key }: Scene, url: string): Record<string, string> => ({
  referer: url,
  'x-original-url': new URL(url).pathname,
  'x-forwarded-uri': `${new URL(url).pathname}?key=${key}`,
  'x-rewrite-url': new URL(url).pathname.replace(lastPart(url), escaped(lastPart(url))),
})

/** The same, and other headers that can repeat the URL of the request itself. */
const copies = (scene: Scene, url: string): Record<string, string> => ({
  ...passedOn(scene, url),
  'x-seen': `slug=${lastPart(url)}`,
  'x-lower': url.toLowerCase(),
  'x-key': scene.key,
  'x-admin': world.installed.api_key,
  authorization: `Bearer ${scene.key}`,
  cookie: scene.cookie,
})

async function postEvents(scene: Scene): Promise<void> {
  const { urls, key, asked } = scene
  for (const url of Object.values(urls)) {
    for (const body of ['{}', '', '{', `{"type":"url_verification","challenge":"c","token":"wrong"}`])
      await ask('POST', url, { headers: copies(scene, url), body })
    for (const path of spellings(new URL(url).pathname, lastPart(url))) {
      for (const method of ['POST', 'GET', 'OPTIONS', 'DELETE'])
        await ask(method, world.baseUrl + path, {
          headers: { referer: url, origin: 'https://a.example' },
          ...(method === 'POST' ? { body: '' } : {}),
        })
    }
    for (const answer of [VERIFY_TOKEN, `${VERIFY_TOKEN}x`, escaped(VERIFY_TOKEN)]) {
      for (const mode of ['subscribe', 'unsubscribe'])
        await ask('GET', `${url}?hub.challenge=c&hub.mode=${mode}&hub.verify_token=${answer}`)
    }
  }
  await ask('POST', asked.public_url, {
    body: JSON.stringify({ type: 'url_verification', challenge: 'c', token: VERIFY_TOKEN }),
  })
  for (const path of [
    'ingest/KEY',
    'ingest/KEY/orders',
    'ingest/KEY/not-a-name',
    'webhooks/KEY/signed',
    'webhooks/KEY/nobody',
  ].map((one) => `/v1/${one.replace('KEY', key)}`)) {
    for (const spelled of spellings(path, key))
      await ask('POST', world.baseUrl + spelled, { headers: copies(scene, world.baseUrl + path), body: '{}' })
  }
}

async function openStreams({ key, admin }: Scene): Promise<void> {
  for (const path of spellings(`/v1/stream/${key}`, key)) await ask('GET', world.baseUrl + path)
  for (const query of [
    `key=${key}&dataset=no!`,
    `key=${key}&since=never`,
    `key=${key}&after=nothing`,
    `key=${key}x`,
    `key=${escaped(key)}x`,
    `KEY=${key}`,
    `key[]=${key}`,
    `token=${key}`,
  ]) {
    await ask('GET', `${world.baseUrl}/v1/stream?${query}`)
    await ask('POST', `${world.baseUrl}/v1/stream?${query}`, { headers: { authorization: `Bearer ${key}` }, body: '' })
    await webSocket(`${world.baseUrl}/v1/stream?${query}`).catch((error: unknown) => note('client', { error }))
  }
  for (const client of [
    await sse(`${world.baseUrl}/v1/stream?key=${key}`),
    await webSocket(`${world.baseUrl}/v1/stream?key=${key}`),
    await sse(`${world.baseUrl}/admin/api/stream`, { headers: admin }),
  ]) {
    seen.push({ where: 'head of a stream', text: JSON.stringify(client.headers) })
    client.close()
  }
  await onWire(
    `GET /v1/stream?key=${key} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 3\r\n\r\n`,
  )
}

/** Sends each secret as an invalid credential, and in the wrong places. */
async function askTheAdminApi({ admin }: Scene): Promise<void> {
  for (const [, value] of secrets) {
    for (const path of [
      `webhooks/${value}`,
      `projects/${value}/webhooks`,
      `search/correlate/${encodeURIComponent(value)}`,
      `rejections?cursor=${value}`,
      `records?dataset=${value}`,
      value,
      `webhooks/${value}%zz`,
      `rules/${value.repeat(9)}`,
    ]) {
      await ask('GET', `${world.baseUrl}/admin/api/${path}`, { headers: admin })
    }
    for (const headers of [
      { authorization: `Bearer ${value}x` },
      { authorization: value },
      { cookie: `service_session=${value}x` },
      { ...admin, 'service-version': value },
    ])
      await ask('GET', `${world.baseUrl}/admin/api/me`, { headers })
    await ask('GET', `${world.baseUrl}/metrics`, { headers: { authorization: `Bearer ${value}x` } })
    await ask('POST', `${world.baseUrl}/admin/api/session`, {
      headers: { 'x-requested-with': 'test' },
      body: JSON.stringify({ token: value }),
    })
  }
}

async function sendWhatIsNoHttp({ key }: Scene): Promise<void> {
  for (const url of [world.endpoint, `${world.baseUrl}/v1/ingest/${key}`, `${world.baseUrl}/v1/stream?key=${key}`]) {
    const path = url.slice(world.baseUrl.length)
    await onWire(`POST ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 2\r\n\r\n{}`)
    await onWire(`POST ${path} x HTTP/1.1\r\nHost: a\r\n\r\n`)
    await onWire(`POST ${path}\xff HTTP/1.1\r\nHost: a\r\n\r\n`)
    await onWire(`BREW ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await onWire(`POST ${path} HTTP/1.1\r\nHost: a\r\nReferer: ${url}\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`)
    await onWire(`POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n`)
    await onWire(`POST http://elsewhere${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}XX\r\n`)
    await onWire(`PRI ${path} HTTP/2.0\r\n\r\nSM\r\n\r\n`)
  }
}

async function askWhileThingsBreak(scene: Scene): Promise<void> {
  const { signed, key, admin } = scene
  for (const table of [
    'rules',
    'credentials',
    'submissions',
    'records',
    'projects',
    'rejections',
    'audit_rows',
    'deliveries',
    'webhooks',
  ]) {
    await without(table, async () => {
      for (const url of [
        signed.public_url,
        world.endpoint,
        `${world.endpoint}x`,
        `${world.baseUrl}/v1/ingest/${key}`,
        `${world.baseUrl}/v1/webhooks/${key}/signed`,
      ])
        await ask('POST', url, { body: '{}', headers: passedOn(scene, world.endpoint) })
      for (const path of [
        'stream',
        `webhooks/${signed.id}`,
        'rejections',
        'webhooks',
        `webhooks/${signed.id}/activity`,
      ]) {
        const answer = fetch(`${world.baseUrl}/admin/api/${path}`, {
          headers: admin,
          signal: AbortSignal.timeout(1_000),
        })
        await answer
          .then(async (response) =>
            response.status >= 400 ? heard(path, { status: response.status, text: await response.text() }) : undefined,
          )
          .catch((error: unknown) => note('client', { error }))
      }
      world.clock.advance(2_000)
      await ask('GET', `${world.baseUrl}/v1/stream?key=${key}x`)
    })
  }
  // The failures of ingest are those before the commit, in it, and for the lost events. A missing table is a bug, so
  // `ingest.refused` (away, busy) is not among them.
  for (const failure of ['ingest.failed', 'ingest.commit_failed', 'ingest.not_stored', 'request.failed'])
    assert.ok(
      seen.some(({ where }) => where === `log ${failure}`),
      `no ${failure}`,
    )
}

/** Rotates and deletes the secrets, waits for the background work, and reads the metrics and the public pages. */
async function changeAndTakeAway({ signed, shaken, off, keyId }: Scene): Promise<void> {
  await world.admin('POST', `webhooks/${signed.id}/rotate-verification-secret`, {
    secret: `${VERIFICATION_SECRET}-2`,
    overlap_hours: 1,
  })
  await world.admin('PATCH', `webhooks/${shaken.id}`, {
    handshake: { kind: 'hub_challenge', verify_token: `${VERIFY_TOKEN}-2` },
  })
  await world.admin('DELETE', `webhooks/${off.id}`)
  await world.admin('DELETE', `ingest-keys/${keyId}`)
  await eventually('the refusals are audited', async () => {
    world.clock.advance(61_000)
    const [first] = await database.many<{ at: Date }>(
      sql`select at from audit_rows where action = 'ingest_signature_rejected'`,
    )
    return first
  })
  await sink.until(1)
  const metrics = await fetch(`${world.baseUrl}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  assert.equal(metrics.status, 200)
  seen.push({ where: 'metrics', text: await metrics.text() })
  for (const path of ['/', '/openapi.json', '/healthz', '/readyz'])
    seen.push({ where: path, text: await (await fetch(world.baseUrl + path)).text() })
  seen.push({
    where: 'the rejection log',
    text: JSON.stringify((await world.admin('GET', 'rejections?limit=200')).body),
  })
}

test('no credential is in a log, a metric, an error or a column of the database, whatever is sent', async () => {
  const scene = await aScene()
  for (const act of [postEvents, openStreams, askTheAdminApi, sendWhatIsNoHttp, askWhileThingsBreak, changeAndTakeAway])
    await act(scene)
  assert.deepEqual([...new Set(leaks(seen))], [])
  const tables = await textsOfTheDatabase()
  assert.match(tables.find(({ where }) => where === 'submissions.headers')?.text ?? '', /referer/)
  assert.deepEqual([...new Set(leaks(tables))], [])
})

test('both formats of the log report the fault, and nothing that a database adds about the row', async () => {
  const program = `
    import { createLog } from ${JSON.stringify(new URL('../../src/platform/log.ts', import.meta.url).href)}
    const cause = Object.assign(new Error('outer', { cause: new Error('inner') }), { code: '23514', detail: 'Failing row contains (hush)' })
    for (const format of ['json', 'text']) createLog({ level: 'debug', format }).error('thing.failed', { cause })
  `
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const line = JSON.parse(stdout)
  assert.deepEqual(
    [line.event, line.cause.message, line.cause.code, line.cause.cause.message],
    ['thing.failed', 'outer', '23514', 'inner'],
  )
  assert.match(line.cause.stack, /Error: outer/)
  assert.match(stderr, /error thing\.failed cause="outer"/)
  assert.ok(!`${stdout}${stderr}`.includes('hush'))
})
