import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe, test } from 'node:test'
import { rotateKey } from '../../src/commands/rotate-key.ts'
import { SEALED_COLUMNS, secretPlace } from '../../src/domain/secret-place.ts'
import { createCipher, type Cipher } from '../../src/platform/cipher.ts'
import { sql, type Database, type Db } from '../../src/platform/db.ts'
import { openKeyFile } from '../../src/platform/key-file.ts'
import { countSealed } from '../../src/resources/operate/key-ring/index.ts'
import { aDestination, anIngestKey, aWebhook, behind, post, signedIn, statement } from '../stage/fixtures.ts'
import { runCommand } from '../stage/command.ts'
import { anAuthority } from '../stage/tls-files.ts'
import { aSink, aWorld, type World } from '../stage/harness.ts'
import { ask, theWorkspace } from '../stage/people.ts'

/** The key that seals what is secret is replaced beside running servers, and no death on the way loses a value. */
const folder = mkdtempSync(join(tmpdir(), 'postroad-keys-'))
const worlds: World[] = []
let databases: Database[] = []

after(async () => {
  for (const world of worlds.toReversed()) await world.stop()
  rmSync(folder, { recursive: true, force: true })
})
afterEach(async () => {
  for (const database of databases) await database.close()
  databases = []
})

async function aHouse(options: Parameters<typeof aWorld>[0] = {}): Promise<{ world: World; database: Database }> {
  const world = await aWorld(options)
  worlds.push(world)
  const database = behind(world)
  databases.push(database)
  return { world, database }
}

const aKeyFolder = (): string => mkdtempSync(join(folder, 'data-'))
const fileIn = (keyFolder: string): string => readFileSync(join(keyFolder, 'secret-key'), 'utf8')

const signed = (value: string): Record<string, string> => ({
  'x-signature': createHmac('sha256', value).update('{}').digest('hex'),
})
const finding = (said: string) =>
  JSON.parse(said).findings.find(({ check }: { check: string }) => check === 'secrets are sealed by the newest key')

/** One value at least in every column that holds sealed values. */
async function aFullHouse(world: World): Promise<{ works(): Promise<void> }> {
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
  const repeatable = () =>
    world.admin('POST', 'rules/test', { conditions: [], payloads: [{}] }, { 'idempotency-key': 'kept' })
  await repeatable()
  await world.admin('POST', 'session/links', { email: 'nobody@example.com' }, { 'x-requested-with': 'test' })
  const database = behind(world)
  await ask(world, 'POST members/leave', {
    headers: { ...(await signedIn(world, await theWorkspace(database))), 'idempotency-key': 'kept' },
    body: {},
  })
  const uuid = (await database.one<{ id: string }>(sql`select id from destinations order by id desc limit 1`)).id
  const former = world.storage.cipher.seal('former', secretPlace('destinations.previous_secret', uuid))
  const token = world.storage.cipher.seal('{}', secretPlace('destinations.access_token', uuid))
  await database.run(
    sql`update destinations set previous_secret = ${former}, previous_secret_expires_at = '2100-01-01', access_token = ${token} where id = ${uuid}`,
  )
  await database.close()
  await sink.stop()
  return {
    works: async () => {
      world.app.deps.configChanged((await onlyProject(world)).id)
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

async function onlyProject(world: World): Promise<{ id: string }> {
  const database = behind(world)
  try {
    return await database.one<{ id: string }>(sql`select id from projects where is_default`)
  } finally {
    await database.close()
  }
}

const ID_COLUMNS: Readonly<Record<string, string>> = { audit_anchors: 'workspace_id' }

/** Opens every sealed value that there is, told by SQL alone. */
async function unreadable(database: Db, cipher: Cipher): Promise<readonly string[]> {
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

test('every column that holds bytes is known to be sealed, or to be no secret', async () => {
  const { database } = await aHouse()
  const plain = [
    'audit_rows.hash',
    'audit_rows.prev_hash',
    'credentials.hash',
    'data_export_chunks.data',
    'data_exports.sha256',
    'idempotency_keys.fingerprint',
    'idempotency_keys.key_hash',
    'idempotency_records.fingerprint',
    'idempotency_records.key_hash',
    'invites.token_hash',
    'one_time_tokens.hash',
    'passkeys.public_key',
    'personal_idempotency_records.fingerprint',
    'personal_idempotency_records.key_hash',
    'sessions.hash',
    'submissions.body_bytes',
    'throttles.hash',
  ]
  const rows = await database.many<{ name: string }>(sql`
    select c.relname || '.' || a.attname as name
      from pg_attribute a
      join pg_class c on c.oid = a.attrelid
     where a.atttypid = 'bytea'::regtype and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
  `)
  assert.deepEqual(
    rows
      .map(({ name }) => name)
      .filter((name) => !plain.includes(name))
      .toSorted((a, b) => (a < b ? -1 : 1)),
    SEALED_COLUMNS.toSorted((a, b) => (a < b ? -1 : 1)),
  )
})

describe('rotate-key with the keys of the environment', () => {
  test('seals every value by SECRET_KEY beside a running server; doctor says what waits; done twice it changes nothing', async () => {
    const { world, database } = await aHouse()
    await aFullHouse(world)
    const fresh = randomBytes(32).toString('base64')
    const env = { SECRET_KEY: fresh, SECRET_KEY_PREVIOUS: world.storage.secretKey }
    const sick = await runCommand(world, ['doctor', '--json'], env)
    const { total } = await countSealed(database, world.storage.cipher)
    assert.deepEqual([sick.code, finding(sick.stdout).found], [1, total])
    const { code, stdout, stderr } = await runCommand(world, ['rotate-key', '--json'], env)
    const only = createCipher([Buffer.from(fresh, 'base64')])
    const done = {
      ok: true,
      key_id: only.keyIds()[0],
      resealed: total,
      total,
      waiting: 0,
      unreadable: [],
      former_key_removed: null,
    }
    assert.deepEqual([code, JSON.parse(stdout)], [0, done])
    assert.match(stderr, new RegExp(`^sealed ${total} of ${total}$`, 'm'))
    assert.deepEqual(await unreadable(database, only), [])
    const again = await runCommand(world, ['rotate-key'], env)
    assert.deepEqual([again.code, again.stderr], [0, ''])
    assert.equal(
      again.stdout,
      `Resealed 0 secrets. ${total} of ${total} are sealed by the newest key (${only.keyIds()[0]}).\nNo secret needs SECRET_KEY_PREVIOUS any more: remove it on every node, and restart them.\n`,
    )
    const well = await runCommand(world, ['doctor', '--json'], { SECRET_KEY: fresh })
    assert.equal(finding(well.stdout).ok, true)
    const restarted = await aWorld({ beside: { ...world, storage: { ...world.storage, cipher: only } } })
    worlds.push(restarted)
    assert.equal(
      (await restarted.admin('GET', 'me')).status,
      200,
      'the key of bootstrap works under any key of the installation',
    )
  })

  test('a process whose keys cannot open what is sealed does not start, and says in one line what to set', async () => {
    const { world } = await aHouse()
    for (const command of ['serve', 'bootstrap', 'doctor', 'rotate-key']) {
      const { code, stdout, stderr } = await runCommand(world, [command], {
        SECRET_KEY: randomBytes(32).toString('base64'),
      })
      assert.deepEqual([code, stdout], [1, ''], command)
      assert.equal(
        stderr,
        'postroad: 2 secrets in the database (webhooks.url_slug, audit_anchors.sealed) were sealed by a key that is not here, so they cannot be read. Set SECRET_KEY to the key that sealed them, or SECRET_KEY_PREVIOUS to it while you replace it.\n',
      )
    }
  })

  test('a value that is damaged is named and left, and everything else is sealed', async () => {
    const { world, database } = await aHouse()
    await aFullHouse(world)
    await statement(
      database,
      `update webhooks set secret = set_byte(secret, 34, get_byte(secret, 34) # 1) where secret is not null`,
    )
    const env = { SECRET_KEY: randomBytes(32).toString('base64'), SECRET_KEY_PREVIOUS: world.storage.secretKey }
    const { code, stdout } = await runCommand(world, ['rotate-key', '--json'], env)
    const { ok, waiting, unreadable: named } = JSON.parse(stdout)
    assert.deepEqual([code, ok, waiting], [1, false, 1])
    assert.match(named.join(), /^webhooks\.secret\/[0-9a-f-]{36}$/)
    const { stdout: text } = await runCommand(world, ['rotate-key'], env)
    assert.match(text, /^This secret cannot be opened by any key that is here: webhooks\.secret\//m)
  })

  test('what it does not know is refused', async () => {
    const { world } = await aHouse()
    const { code, stderr } = await runCommand(world, ['rotate-key', '--now'])
    assert.deepEqual([code, stderr], [2, 'postroad: This takes no argument but --json.\n'])
  })
})

describe('rotate-key with a key file', () => {
  test('makes a key, moves every value to it beside a running server, and takes the former key away', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    const house = await aFullHouse(world)
    const former = fileIn(keyFolder)
    const outcome = await rotateKey(database, world.storage)
    assert.deepEqual([outcome.ok, outcome.former_key_removed, outcome.resealed], [true, true, outcome.total])
    assert.match(fileIn(keyFolder), /^[A-Za-z0-9+/]{43}=\n$/)
    assert.notEqual(fileIn(keyFolder), former)
    assert.deepEqual(await unreadable(database, createCipher(openKeyFile(keyFolder).keys())), [])
    await house.works()
    const { id } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'after' } })
    assert.equal((await world.admin('GET', `webhooks/${id}`)).status, 200)
    assert.equal(
      (await countSealed(database, world.storage.cipher)).waiting,
      0,
      'the server seals by the new key without a restart',
    )
  })

  test('whichever statement it dies at, every value opens with what is in the file, and the next run ends the work', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    const house = await aFullHouse(world)
    let deaths = 0
    for (let step = 1; ; step += 1) {
      const died = await rotateKey(dyingAt(database, step), {
        keyFile: openKeyFile(keyFolder),
        cipher: createCipher(openKeyFile(keyFolder).keys),
      }).then(
        () => false,
        () => true,
      )
      assert.deepEqual(
        await unreadable(database, createCipher(openKeyFile(keyFolder).keys())),
        [],
        `at statement ${step}`,
      )
      assert.ok(fileIn(keyFolder).trim().split('\n').length <= 2, 'no third key is made')
      if (!died) break
      deaths += 1
    }
    assert.ok(deaths > 30, `there were ${deaths} steps`)
    assert.equal(fileIn(keyFolder).trim().split('\n').length, 1)
    await house.works()
  })

  test('two at once, and changes meanwhile, leave one key and no value that does not open', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    const house = await aFullHouse(world)
    const second = behind(world)
    databases.push(second)
    const changes = async (): Promise<void> => {
      for (let count = 0; count < 20; count += 1)
        await aWebhook(world, { verification: { scheme: 'hmac', secret: `s${count}` } })
    }
    const own = () => ({ keyFile: openKeyFile(keyFolder), cipher: createCipher(openKeyFile(keyFolder).keys) })
    const [one, other] = await Promise.all([rotateKey(database, own()), rotateKey(second, own()), changes()])
    assert.deepEqual([one.ok, other.ok], [true, true])
    assert.equal(fileIn(keyFolder).trim().split('\n').length, 1)
    assert.deepEqual(await unreadable(database, createCipher(openKeyFile(keyFolder).keys())), [])
    await house.works()
  })

  test('what somebody changed since it was read is left as they set it', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    const { id, public_url } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'read' } })
    const change = async (): Promise<void> =>
      void (await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'hmac', secret: 'set' } }))
    assert.equal((await rotateKey(watchFor(database, /^\s*update /, change), world.storage)).ok, true)
    world.app.deps.configChanged((await onlyProject(world)).id)
    assert.equal((await post(public_url, '{}', { headers: signed('set') })).status, 201)
  })

  test('the former key stays until the transactions have ended that may have sealed by it', async () => {
    const keyFolder = aKeyFolder()
    const { world, database } = await aHouse({ keyFolder })
    await aFullHouse(world)
    const straggler = behind(world)
    databases.push(straggler)
    const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const sealed = world.storage.cipher
    const slow = straggler.transaction(async (tx) => {
      const row = await tx.one<{ id: string }>(sql`select id from webhooks where secret is not null limit 1`)
      const value = sealed.seal('late', secretPlace('webhooks.secret', row.id))
      asked.resolve()
      await go.promise
      await tx.run(sql`update webhooks set secret = ${value} where id = ${row.id}`)
    })
    await asked.promise
    const watched = watchFor(database, /pg_stat_activity/, () => go.resolve())
    const outcome = await rotateKey(watched, world.storage)
    await slow
    assert.equal(outcome.ok, true)
    assert.deepEqual(await unreadable(database, createCipher(openKeyFile(keyFolder).keys())), [])
  })
})

/** The real database up to a statement, and a dead one from then on. */
function dyingAt(database: Database, last: number): Database {
  let count = 0
  const alive = (): void => {
    count += 1
    if (count >= last) throw new Error('died')
  }
  return wrapped(database, alive)
}

/** The real database; calls back before the first statement that looks so. */
function watchFor(database: Database, what: RegExp, seen: () => void | Promise<void>): Database {
  let isFirst = true
  return wrapped(database, async (text) => {
    if (!isFirst || !what.test(text)) return
    isFirst = false
    await seen()
  })
}

function wrapped(database: Database, look: (text: string) => void | Promise<void>): Database {
  const around = (db: Db): Db => ({
    many: async (query) => (await look(query.strings.join('')), db.many(query)),
    maybe: async (query) => (await look(query.strings.join('')), db.maybe(query)),
    one: async (query) => (await look(query.strings.join('')), db.one(query)),
    run: async (query) => (await look(query.strings.join('')), db.run(query)),
  })
  return {
    ...around(database),
    transaction: (work) =>
      database.transaction(async (tx) => {
        const result = await work(around(tx))
        await look('commit')
        return result
      }),
    forWorkspace: (workspaceId) => wrapped(database.forWorkspace(workspaceId), look),
    get forSystem() {
      return wrapped(database.forSystem, look)
    },
    listen: (...listening) => database.listen(...listening),
    close: () => database.close(),
  }
}
