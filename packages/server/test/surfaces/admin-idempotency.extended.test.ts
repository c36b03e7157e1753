import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aName, aRule, aWebhook, signedIn, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { aKeyOf, ask, aWorkspace, theWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Idempotency-Key on the admin API (contract parts 3, 7 and 8). */
let world: World
let database: Database
let home: Member & { readonly defaultProjectId: string }
let key: Headers

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    home = await theWorkspace(database)
    key = (await aKeyOf(world, database, home)).headers
  },
  { env: { LOG_LEVEL: 'silent' } },
)

let used = 0
const aKeyText = (): string => `key-${(used += 1)}`
const send = (idempotencyKey: string, of: { line?: string; body?: unknown; headers?: Headers } = {}): Promise<Answer> =>
  ask(world, of.line ?? 'POST datasets', {
    headers: { ...(of.headers ?? key), 'idempotency-key': idempotencyKey },
    body: of.body ?? { name: 'd' },
  })
const aBody = (): { name: string } => ({ name: aName('d').replaceAll(' ', '_') })
const replayed = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true'
const countOf = async (name: string): Promise<number> =>
  (await database.one<{ count: number }>(sql`select count(*) as count from datasets where name = ${name}`)).count

function refused(answer: Answer, status: number, reason: string): void {
  assert.deepEqual(
    [answer.status, answer.body.reason, replayed(answer)],
    [status, reason, false],
    JSON.stringify(answer.body),
  )
}

test('a repeat gets the stored status and body with Idempotent-Replayed: true, and the work is not done again', async () => {
  const [text, body] = [aKeyText(), aBody()]
  const first = await send(text, { body })
  assert.deepEqual([first.status, replayed(first)], [201, false])
  for (let repeat = 0; repeat < 3; repeat += 1) {
    const again = await send(text, { body })
    assert.deepEqual([again.status, replayed(again), again.body], [201, true, first.body])
    assert.match(again.headers.get('content-type') ?? '', /^application\/json/)
    assert.notEqual(again.headers.get('request-id'), first.headers.get('request-id'))
  }
  assert.equal(await countOf(body.name), 1)
})

test('a refusal is stored and replayed like a success', async () => {
  const [text, body] = [aKeyText(), aBody()]
  const dataset = (await ask(world, 'POST datasets', { headers: key, body })).body.dataset
  const first = await send(text, { body })
  refused(first, 409, 'name_taken')
  await statement(database, `update datasets set name = 'renamed_${body.name}' where name = '${dataset.name}'`)
  const again = await send(text, { body })
  assert.deepEqual([again.status, again.body, replayed(again)], [409, first.body, true])
  const invalid = aKeyText()
  refused(await send(invalid, { body: { name: '?' } }), 400, 'invalid_request')
  assert.deepEqual(await send(invalid, { body: { name: '?' } }).then((answer) => [answer.status, replayed(answer)]), [
    400,
    true,
  ])
})

test('an internal error is not stored: the repeat is carried out', async () => {
  const [text, body] = [aKeyText(), aBody()]
  await statement(database, 'alter table datasets rename to datasets_gone')
  try {
    refused(await send(text, { body }), 500, 'internal')
  } finally {
    await statement(database, 'alter table datasets_gone rename to datasets')
  }
  assert.deepEqual(await send(text, { body }).then((answer) => [answer.status, replayed(answer)]), [201, false])
})

test('the same key on another path, with another body or by another credential gets 422', async () => {
  const [text, body] = [aKeyText(), aBody()]
  assert.equal((await send(text, { body })).status, 201)
  const project = world.installed.project.id
  const others = [
    { line: `POST projects/${project}/datasets`, body: aBody() },
    { line: `POST projects/${project}/rules`, body },
    { line: 'POST rules', body },
    { line: 'POST datasets?x=1', body },
    { body: aBody() },
    { body: JSON.stringify(body, undefined, 1) },
    { body, headers: (await aKeyOf(world, database, home)).headers },
    { body, headers: await signedIn(world, home) },
  ]
  for (const other of others) refused(await send(text, other), 422, 'idempotency_key_reused')
  assert.equal((await send(text, { body })).status, 201)
})

test('a route of the Default project and its alias are the same request', async () => {
  const project = world.installed.project.id
  const [alias, full] = ['POST datasets', `POST projects/${project}/datasets`]
  for (const [first, second] of [
    [alias, full],
    [full, alias],
    [`${alias}/`, full],
  ] as const) {
    const [text, body] = [aKeyText(), aBody()]
    const made = await send(text, { line: first, body })
    const again = await send(text, { line: second, body })
    assert.deepEqual([made.status, again.status, replayed(again), again.body], [201, 201, true, made.body])
    assert.equal(await countOf(body.name), 1)
    refused(await send(text, { line: second, body: aBody() }), 422, 'idempotency_key_reused')
  }
  const [text, body] = [aKeyText(), aBody()]
  const other = (await ask(world, 'POST projects', { headers: key, body: { name: aName('other') } })).body.project.id
  assert.equal((await send(text, { line: full, body })).status, 201)
  refused(await send(text, { line: `POST projects/${other}/datasets`, body }), 422, 'idempotency_key_reused')
})

test('a request that changes nothing has no transaction open while it works under a key, and its answer is replayed', async () => {
  const { id } = await aRule(world)
  const [text, of] = [aKeyText(), { line: 'POST rules/test', body: { rule_id: id, payloads: [{}] } }]
  const { answer } = await database.transaction(async (tx) => {
    await statement(tx, 'lock table rules in access exclusive mode')
    const asked = send(text, of)
    // A transaction would still have the lock of the statement that found the project.
    const waiting = await eventually('a request waits for the lock', () =>
      database.maybe<{ in_transaction: boolean }>(sql`
        select exists (
                 select from pg_locks l
                  where l.pid = a.pid and l.granted and l.relation = 'projects'::regclass
               ) as in_transaction
          from pg_stat_activity a
         where a.wait_event_type = 'Lock'
           and a.query ~ 'from rules.*and id = '
      `),
    )
    assert.equal(waiting.in_transaction, false)
    return { answer: asked }
  })
  const first = await answer
  assert.equal(first.status, 200, JSON.stringify(first.body))
  const again = await send(text, of)
  assert.deepEqual([replayed(again), again.body], [true, first.body])
})

test('a person is one credential over all sessions', async () => {
  const [text, body] = [aKeyText(), aBody()]
  assert.equal((await send(text, { body, headers: await signedIn(world, home) })).status, 201)
  assert.equal(replayed(await send(text, { body, headers: await signedIn(world, home) })), true)
})

test('another workspace has separate keys', async () => {
  const elsewhere = await aWorkspace(world, database, 'elsewhere')
  const [text, body] = [aKeyText(), aBody()]
  const { headers } = await aKeyOf(world, database, elsewhere)
  const [here, there] = [await send(text, { body }), await send(text, { body, headers })]
  assert.deepEqual([here.status, there.status, replayed(there)], [201, 201, false])
  assert.notEqual(here.body.dataset.id, there.body.dataset.id)
})

test('a key has 1 to 255 printable characters without spaces; any other key gets 400 and nothing is done', async () => {
  for (const text of ['x', '!~', 'k'.repeat(255), '"quoted"'])
    assert.equal((await send(text, { body: aBody() })).status, 201, text)
  for (const text of ['', ' ', 'a b', 'k'.repeat(256), 'é', 'a\tb']) {
    const body = aBody()
    refused(await send(text, { body }), 400, 'invalid_idempotency_key')
    assert.equal(await countOf(body.name), 0, JSON.stringify(text))
  }
})

test('a key has an effect on POST only', async () => {
  const { id } = await aWebhook(world)
  for (const line of [`GET webhooks/${id}`, 'GET webhooks']) {
    const answer = await ask(world, line, { headers: { ...key, 'idempotency-key': 'with a space' } })
    assert.deepEqual([answer.status, replayed(answer)], [200, false])
  }
  for (const name of ['one', 'two']) {
    const { status, body } = await send('patched', { line: `PATCH webhooks/${id}`, body: { name } })
    assert.deepEqual([status, body.webhook.name], [200, name])
  }
})

test('a key takes effect on every node', async (t) => {
  const other = await aWorld({ beside: world })
  t.after(() => other.stop())
  const [text, body] = [aKeyText(), aBody()]
  const first = await send(text, { body })
  const again = await ask(other, 'POST datasets', { headers: { ...key, 'idempotency-key': text }, body })
  assert.deepEqual([again.status, replayed(again), again.body], [201, true, first.body])
})

test('a caller who has lost the permission gets no replay either', async () => {
  const [text, body] = [aKeyText(), aBody()]
  const { headers, id: _id } = await aKeyOf(world, database, { ...home, role: 'developer' })
  assert.equal((await send(text, { body, headers })).status, 201)
  await statement(database, "update api_keys set role = 'viewer' where role = 'developer'")
  refused(await send(text, { body, headers }), 403, 'insufficient_role')
})

test('an answer that shows a secret once is replayed with the secret and Cache-Control: no-store, and is stored encrypted', async () => {
  const text = aKeyText()
  const of = { line: 'POST ingest-keys', body: { name: aName('key') } }
  const first = await send(text, of)
  const again = await send(text, of)
  assert.deepEqual([again.body, replayed(again), again.headers.get('cache-control')], [first.body, true, 'no-store'])
  const rows = await database.many<{ row: string }>(sql`select r::text as row from idempotency_records r`)
  for (const secret of [first.body.key, text]) {
    const hex = Buffer.from(secret).toString('hex')
    assert.ok(
      rows.length > 0 && !rows.some(({ row }) => row.includes(secret) || row.includes(hex)),
      'a row contains it in plain text',
    )
  }
  const rotated = aKeyText()
  const { id } = await aWebhook(world)
  const rotate = { line: `POST webhooks/${id}/rotate`, body: { overlap_hours: 1 } }
  assert.deepEqual((await send(rotated, rotate)).body, (await send(rotated, rotate)).body)
})

test('a stored answer cannot be decrypted in another row', async () => {
  const [one, two] = [aKeyText(), aKeyText()]
  const bodies = [aBody(), aBody()]
  await send(one, { body: bodies[0] })
  await send(two, { body: bodies[1] })
  await statement(
    database,
    `update idempotency_records set response = (select response from idempotency_records order by id desc limit 1)
     where id = (select id from idempotency_records order by id desc limit 1 offset 1)`,
  )
  const answer = await send(one, { body: bodies[0] })
  assert.equal(answer.status, 500)
})

const dryRun = (chars: number) => ({
  line: 'POST rules/test',
  body: { conditions: [], mappings: [{ target: 'a', path: 'a' }], payloads: [{ a: 'x'.repeat(chars) }] },
})
const sizeOf = async (chars: number): Promise<number> =>
  JSON.stringify((await send(aKeyText(), dryRun(chars))).body).length

test('an answer over 64 KiB is not stored, and one of 64 KiB is', async () => {
  const around = await sizeOf(10)
  const slope = ((await sizeOf(1_010)) - around) / 1_000
  const fits = Math.floor((65_536 - around) / slope) + 10
  for (const [chars, kept] of [
    [fits, true],
    [fits + 1, false],
  ] as const) {
    const text = aKeyText()
    assert.equal((await send(text, dryRun(chars))).status, 200)
    const again = await send(text, dryRun(chars))
    assert.deepEqual([again.status, replayed(again)], [200, kept], `${JSON.stringify(again.body).length} characters`)
  }
})

test('an answer is retained for 24 hours; then the key is free and the record is removed', async () => {
  const [text, body] = [aKeyText(), { name: aName('rule'), dataset: 'd' }]
  const of = { line: 'POST rules', body }
  await send(text, of)
  world.clock.advance(86_399_999)
  const fresh = (await aKeyOf(world, database, home)).headers
  assert.equal(replayed(await send(text, of)), true)
  world.clock.advance(1)
  refused(await send(text, of), 409, 'name_taken')
  const old = aKeyText()
  await send(old, { body: aBody(), headers: fresh })
  world.clock.advance(86_400_000)
  const kept = async (): Promise<number> =>
    (await database.one<{ count: number }>(sql`select count(*) as count from idempotency_records`)).count
  await runUpkeep(world.app.deps)
  assert.equal(await kept(), 0)
})

test('a workspace has 10,000 keys in 24 hours; the next gets 429 with Retry-After: 3600, and repeats are still answered', async () => {
  const [text, body] = [aKeyText(), aBody()]
  await send(text, { body })
  await statement(
    database,
    `insert into idempotency_records (workspace_id, id, key_hash, fingerprint, claimed_at, status)
     select workspace_id, gen_random_uuid(), decode(lpad(to_hex(n), 64, '0'), 'hex'), '', claimed_at, 200
       from (select workspace_id, claimed_at from idempotency_records limit 1) one, generate_series(1, 9998) as n`,
  )
  assert.equal((await send(aKeyText(), { body: aBody() })).status, 201)
  const full = await send(aKeyText(), { body: aBody() })
  refused(full, 429, 'idempotency_keys_exhausted')
  assert.deepEqual([full.headers.get('retry-after'), full.body.retry_after], ['3600', 3_600])
  assert.equal(replayed(await send(text, { body })), true)
  assert.equal(
    (await ask(world, 'POST datasets', { headers: key, body: aBody() })).status,
    201,
    'without a key it continues',
  )
  await statement(database, 'delete from idempotency_records')
})

// In flight

/** The end of the audit chain of the workspace, which every change locks before it ends. */
const AUDIT_LOCK = (): { strings: string[]; values: string[] } => ({
  strings: ['select sealed from audit_anchors where workspace_id = ', ' for update'],
  values: [home.workspaceId],
})

/** The number of requests that wait for that lock. */
const waiting = async (): Promise<number> =>
  (
    await database.one<{ count: number }>(
      sql`select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).count

async function untilWaiting(count: number): Promise<void> {
  await eventually(`${count} statements wait for a lock`, async () => ((await waiting()) === count ? true : undefined))
}

test('while the first request runs, an equal one gets 409 with Retry-After: 1, and a different one gets 422', async () => {
  const [text, body] = [aKeyText(), aBody()]
  let first: Promise<Answer> | undefined
  await database.transaction(async (tx) => {
    await tx.run(AUDIT_LOCK())
    first = send(text, { body })
    await untilWaiting(1)
    const second = await send(text, { body })
    refused(second, 409, 'idempotency_in_progress')
    assert.deepEqual([second.headers.get('retry-after'), second.body.retry_after], ['1', 1])
    refused(await send(text, { body: aBody() }), 422, 'idempotency_key_reused')
  })
  assert.equal((await first)?.status, 201)
  assert.equal(replayed(await send(text, { body })), true)
})

test('of a hundred simultaneous equal requests one is carried out', async () => {
  const [text, body] = [aKeyText(), aBody()]
  const answers = await Promise.all(Array.from({ length: 100 }, () => send(text, { body })))
  assert.equal(answers.filter((answer) => answer.status === 201 && !replayed(answer)).length, 1)
  assert.ok(answers.every(({ status }) => status === 201 || status === 409))
  assert.equal(await countOf(body.name), 1)
})

test('a request that is unfinished after 60 seconds is abandoned: the key is free, and the late end of the request changes nothing', async () => {
  const [text, body] = [aKeyText(), { ...aBody(), description: 'first' }]
  let slow: Promise<Answer> | undefined
  let second: Promise<Answer> | undefined
  await database.transaction(async (tx) => {
    await tx.run(AUDIT_LOCK())
    slow = send(text, { body })
    await untilWaiting(1)
    world.clock.advance(59_999)
    refused(await send(text, { body }), 409, 'idempotency_in_progress')
    world.clock.advance(1)
    second = send(text, { body: { name: body.name, description: 'second' } })
    // The second request waits for the first one, which has locked the name of the dataset or the place in the chain.
    await eventually('the second request has the claim', async () =>
      (
        await database.one<{ claims: number }>(
          sql`select count(*) as claims from idempotency_records where claimed_at = ${new Date(world.clock.now())}`,
        )
      ).claims === 1
        ? true
        : undefined,
    )
  })
  const [late, done] = [await slow, await second]
  assert.deepEqual([late?.status, late?.body.reason], [409, 'idempotency_in_progress'])
  assert.deepEqual([done?.status, done?.body.dataset?.description], [201, 'second'])
  assert.equal(await countOf(body.name), 1)
  const again = await send(text, { body: { name: body.name, description: 'second' } })
  assert.deepEqual([again.body, replayed(again)], [done?.body, true])
})
