import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before } from 'node:test'
import { SEALED_COLUMNS, secretPlace } from '../../src/resources/secret-place.ts'
import { type Cipher } from '../../src/platform/cipher.ts'
import { sql, type Database, type Db } from '../../src/platform/db.ts'
import { DATABASE } from './source-settings.ts'
import { aDestination, anIngestKey, aWebhook, behind, post, signedIn } from './fixtures.ts'
import { anAuthority } from './tls-files.ts'
import { aSink, aWorld, type World } from './harness.ts'
import { ask, theWorkspace } from './people.ts'

/** Servers with sealed values, and a check that every value opens. */
let folder = ''
export const worlds: World[] = []
export let databases: Database[] = []

export async function aHouse(
  options: Parameters<typeof aWorld>[0] = {},
): Promise<{ world: World; database: Database }> {
  const world = await aWorld(options)
  worlds.push(world)
  const database = behind(world)
  databases.push(database)
  return { world, database }
}

export const aKeyFolder = (): string => mkdtempSync(join(folder, 'data-'))
export const fileIn = (keyFolder: string): string => readFileSync(join(keyFolder, 'secret-key'), 'utf8')

export const signed = (value: string): Record<string, string> => ({
  'x-signature': createHmac('sha256', value).update('{}').digest('hex'),
})
export const finding = (said: string) =>
  JSON.parse(said).findings.find(({ check }: { check: string }) => check === 'secrets are sealed by the newest key')

/** At least one value in every column with sealed values. */
export async function aFullHouse(world: World): Promise<{ works(): Promise<void> }> {
  const sink = await aSink()
  const webhook = await aWebhook(world, {
    verification: { scheme: 'hmac', secret: 'one' },
    handshake: { kind: 'hub_challenge', verify_token: 'token' },
  })
  await world.admin('POST', `webhooks/${webhook.id}/rotate`, {})
  await world.admin('POST', `webhooks/${webhook.id}/rotate-verification-secret`, { secret: 'two' })
  const { id, key, secret } = await anIngestKey(world, { require_signature: true })
  await world.admin('POST', `ingest-keys/${id}/rotate-signing-secret`, { secret: 'chosen-and-long-enough' })
  const { destination } = await aDestination(world, {
    url: 'https://localhost/',
    headers: { 'X-Theirs': 'hidden' },
    datasets: ['Nothing'],
    auth: { kind: 'bearer', token: 'held' },
    tls: { ca: anAuthority().cert },
    proxy: { url: sink.url.slice(0, -1) },
  })
  const doomed = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'three' } })
  await world.admin('DELETE', `webhooks/${doomed.id}`)
  const repeatable = () =>
    world.admin('POST', 'rules/test', { conditions: [], payloads: [{}] }, { 'idempotency-key': 'kept' })
  for (const [path, body] of [
    ['ai-providers', { kind: 'openai', api_key: 'canary-model-key', default_model: 'm' }],
    ['sources', { dataset: 'rows', enabled: false, settings: DATABASE }],
    ['forwarders', { endpoint: 'http://127.0.0.1:9', enabled: false, headers: { 'X-A': 'canary' } }],
    ['ws-triggers', { dataset: 'frames', enabled: false, url: 'ws://127.0.0.1:9/', headers: { 'X-A': 'canary' } }],
  ] as const)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.equal((await world.admin('POST', path, { name: path, ...body })).status, 201)
  await world.admin('PUT', `webhooks/${webhook.id}/quarantine`, { hours: 72 })
  assert.equal((await post(webhook.public_url, '{}', { headers: signed('wrong') })).status, 401)
  await repeatable()
  await world.admin('POST', 'session/links', { email: 'nobody@example.com' }, { 'x-requested-with': 'test' })
  const database = behind(world)
  await ask(world, 'POST members/leave', {
    headers: { ...(await signedIn(world, await theWorkspace(database))), 'idempotency-key': 'kept' },
    body: {},
  })
  const uuid = (await database.one<{ id: string }>(sql`select id from destinations order by id desc limit 1`)).id
  const previous = world.storage.cipher.seal('previous', secretPlace('destinations.previous_secret', uuid))
  const token = world.storage.cipher.seal('{}', secretPlace('destinations.access_token', uuid))
  await database.run(
    sql`update destinations set previous_secret = ${previous}, previous_secret_expires_at = '2100-01-01', access_token = ${token} where id = ${uuid}`,
  )
  await database.close()
  await sink.stop()
  return {
    works: async () => {
      world.app.deps.configChanged((await onlyProject(world)).id)
      const [deletion] = (await world.admin('GET', 'deletions')).body.deletions
      assert.equal((await world.admin('POST', `deletions/${deletion.id}/restore`)).status, 200)
      assert.equal((await post(doomed.public_url, '{}', { headers: signed('three') })).status, 201)
      await world.admin('DELETE', `webhooks/${doomed.id}`)
      const { webhook: held } = (await world.admin('GET', `webhooks/${webhook.id}`)).body
      for (const url of [held.public_url, held.previous_public_url]) {
        for (const value of ['one', 'two'])
          assert.equal((await post(url, '{}', { headers: signed(value) })).status, 201)
      }
      assert.equal(
        await (await fetch(`${held.public_url}?hub.mode=subscribe&hub.verify_token=token&hub.challenge=yes`)).text(),
        'yes',
      )
      for (const value of [secret, 'chosen-and-long-enough']) {
        const t = Math.floor(world.clock.wall() / 1_000)
        const v1 = createHmac('sha256', value).update(`${t}.{}`).digest('hex')
        assert.equal(
          (
            await post(`${world.baseUrl}/v1/ingest/${key}/d`, '{}', {
              headers: { 'x-service-signature': `t=${t},v1=${v1}` },
            })
          ).status,
          201,
        )
      }
      assert.deepEqual(
        (await world.admin('GET', `destinations/${destination.id}`)).body.destination.name,
        destination.name,
      )
      assert.equal((await repeatable()).headers.get('idempotent-replayed'), 'true')
    },
  }
}

export async function onlyProject(world: World): Promise<{ id: string }> {
  const database = behind(world)
  try {
    return await database.one<{ id: string }>(sql`select id from projects where is_default`)
  } finally {
    await database.close()
  }
}

const ID_COLUMNS: Readonly<Record<string, string>> = { audit_anchors: 'workspace_id' }

/** Opens every sealed value in the database, found by SQL only. */
export async function unreadable(database: Db, cipher: Cipher): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const column of SEALED_COLUMNS) {
    const [table, value] = column.split('.')
    const rows = await database.many<{ id: string; sealed: Buffer }>({
      strings: [
        `select ${ID_COLUMNS[table ?? ''] ?? 'id'}::text as id, ${value} as sealed from ${table} where ${value} is not null`,
      ],
      values: [],
    })
    assert.ok(rows.length > 0, `${column} has a value`)
    for (const { id, sealed } of rows) {
      try {
        cipher.open(sealed, secretPlace(column, id))
      } catch {
        wrong.push(secretPlace(column, id))
      }
    }
  }
  return wrong
}

/** A file calls this once, before its tests. */
export function onKeyRings(): void {
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'postroad-keys-'))
  })
  after(async () => {
    for (const world of worlds.splice(0).toReversed()) await world.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    for (const database of databases) await database.close()
    databases = []
  })
}
