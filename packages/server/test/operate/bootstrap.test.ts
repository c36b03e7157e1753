import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { bootstrap, install, localKey } from '../../src/resources/operate/installation/index.ts'
import type { World } from '../stage/harness.ts'
import { ask } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { loops: [] },
)

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const asKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
const keysOf = async (key: string) => (await ask(world, 'GET api-keys', asKey(key))).body.api_keys
const reasonOf = async (key: string): Promise<unknown> => (await ask(world, 'GET me', asKey(key))).body.reason

test('each bootstrap creates an admin key that expires in 90 days, and revokes the previous one', async () => {
  const [first, second] = [await bootstrap(world.app.deps), await bootstrap(world.app.deps)]
  assert.deepEqual(
    Object.keys(second),
    ['workspace', 'project', 'webhook', 'api_key', 'sign_in_url'],
    'what `bootstrap --json` prints',
  )
  assert.equal(await reasonOf(first.api_key), 'api_key_revoked')
  const [newest] = await keysOf(second.api_key)
  assert.deepEqual(
    [newest.name, newest.role, newest.expires_at],
    ['bootstrap', 'admin', new Date(world.clock.now() + 90 * DAY_MS).toISOString()],
  )
  const { body } = await ask(world, 'GET audit?action=revoke_api_key', asKey(second.api_key))
  assert.equal(body.audit[0].actor, 'system')
})

test('a start creates no key, and prints a sign-in link only when it creates the workspace', async () => {
  const { api_key } = await bootstrap(world.app.deps)
  const had = await keysOf(api_key)
  const { sign_in_url, workspace } = await install(world.app.deps)
  assert.deepEqual([sign_in_url, workspace], [undefined, world.installed.workspace])
  assert.deepEqual(await keysOf(api_key), had, 'the key of bootstrap continues to work')
})

test('the key of the command line lasts an hour, leaves the key of bootstrap alone, and is removed once it has expired', async () => {
  const { api_key } = await bootstrap(world.app.deps)
  const key = await localKey(world.app.deps)
  assert.equal((await ask(world, 'GET rules', asKey(key))).status, 200)
  world.clock.advance(HOUR_MS)
  assert.equal(await reasonOf(key), 'api_key_expired')
  const next = await localKey(world.app.deps)
  const named = (await keysOf(api_key)).filter(({ name }: { name: string }) => name === 'Command line')
  assert.deepEqual(
    named.map(({ shown_prefix }: { shown_prefix: string }) => shown_prefix),
    [next.slice(0, 11)],
  )
  assert.equal(await reasonOf(key), 'unauthorized')
})

test('no table contains a key or a link that could be shown again', async () => {
  const { api_key, sign_in_url } = await bootstrap(world.app.deps)
  const secrets = [api_key, new URL(sign_in_url).hash.slice(3), await localKey(world.app.deps)]
  const opened = await openable(world, database)
  for (const secret of secrets) assert.ok(!opened.includes(secret), 'a secret can be read again')
})

/** Every row of every table as text, and every binary value that the key of the installation opens. */
async function openable({ storage }: World, db: Database): Promise<string> {
  const columns = await db.many<{ table: string; column: string; type: string }>(sql`
    select table_name as table, column_name as column, data_type as type
      from information_schema.columns
     where table_schema = 'public'
  `)
  const found: string[] = []
  for (const { table, column, type } of columns) {
    // oxlint-disable-next-line no-await-in-loop -- one connection
    const rows = await db.many<{ value: unknown; id: string }>({
      strings: [`select "${column}" as value, t::text as id from "${table}" t where "${column}" is not null`],
      values: [],
    })
    for (const { value, id } of rows) {
      found.push(id)
      if (type !== 'bytea' || !Buffer.isBuffer(value)) continue
      const place = `${table}.${column}/${id.slice(1).split(',')[0]}`
      try {
        found.push(storage.cipher.open(value, place).reveal())
      } catch {
        // The value is not sealed or belongs to another place: the list has the row as text.
      }
    }
  }
  return found.join('\n')
}
