import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { SEALED_COLUMNS } from '../../src/resources/secret-place.ts'
import { createCipher } from '../../src/platform/cipher.ts'
import { sql } from '../../src/platform/db.ts'
import { countSealed } from '../../src/resources/operate/key-ring/index.ts'
import { statement } from '../stage/fixtures.ts'
import { runCommand } from '../stage/command.ts'
import { aWorld } from '../stage/harness.ts'
import { worlds, aHouse, finding, aFullHouse, unreadable, onKeyRings } from '../stage/key-rings.ts'

/** An operator replaces the sealing key in the environment while servers run. A crash at any step loses no value. */
onKeyRings()

test('every column of bytes is listed as sealed or as containing no secret', async () => {
  const { database } = await aHouse()
  const plain = [
    'agent_accounts.claim_hash',
    'agent_registrations.key_hash',
    'agent_registrations.nonce',
    'audit_rows.hash',
    'audit_rows.prev_hash',
    'credentials.hash',
    'data_export_chunks.data',
    'data_exports.sha256',
    'idempotency_keys.fingerprint',
    'idempotency_keys.id_hash',
    'idempotency_keys.key_hash',
    'idempotency_records.fingerprint',
    'idempotency_records.key_hash',
    'invites.token_hash',
    'oauth_entries.hash',
    'oauth_entries.user_code_hash',
    'one_time_tokens.hash',
    'passkeys.public_key',
    'personal_idempotency_records.fingerprint',
    'personal_idempotency_records.key_hash',
    'search_blocks.bits',
    'search_blocks.ids',
    'sessions.hash',
    'submissions.body_bytes',
    'throttles.hash',
    'workflow_instances.wait_key',
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
  test('the command seals every value by SECRET_KEY beside a running server; doctor reports the waiting values; a second run changes nothing', async () => {
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
      `Resealed 0 secrets. ${total} of ${total} are sealed by the newest key (${only.keyIds()[0]}).\nSECRET_KEY_PREVIOUS is no longer needed. Remove it on every node, and restart the nodes.\n`,
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

  test('a process whose keys cannot open the sealed values does not start, and names the setting to change in one line', async () => {
    const { world } = await aHouse()
    for (const command of ['serve', 'bootstrap', 'doctor', 'rotate-key']) {
      const { code, stdout, stderr } = await runCommand(world, [command], {
        SECRET_KEY: randomBytes(32).toString('base64'),
      })
      assert.deepEqual([code, stdout], [1, ''], command)
      assert.equal(
        stderr,
        'postroad: 2 secrets in the database (webhooks.url_slug, audit_anchors.sealed) were sealed by a key that this server does not have, so it cannot read them. Set SECRET_KEY to the key that sealed them, or SECRET_KEY_PREVIOUS to it while you replace it.\n',
      )
    }
  })

  test('the command names a damaged value and leaves it, and seals all others', async () => {
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
    assert.match(text, /^No key of this server can open this secret: webhooks\.secret\//m)
  })

  test('the command refuses unknown options', async () => {
    const { world } = await aHouse()
    const { code, stderr } = await runCommand(world, ['rotate-key', '--now'])
    assert.deepEqual([code, stderr], [2, 'postroad: This command takes no arguments except --json.\n'])
  })
})
