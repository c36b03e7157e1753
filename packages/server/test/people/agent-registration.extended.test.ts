import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import {
  aRegistration,
  challengeFor,
  forged,
  post,
  PROXIED,
  registered,
  type solved,
} from '../stage/agent-registrations.ts'
import { signedIn, statement } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { connected } from '../stage/mcp-client.ts'
import { ask, aWorkspace, theWorkspace } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract parts 1, 7 and 8: agents that register accounts for themselves, and people who claim them. */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { ...PROXIED, LOG_LEVEL: 'silent' }, loops: [] },
)

let networks = 0
/** An address in a network from which nobody has registered. */
const aNewIp = (): string => `100.${64 + Math.floor((networks += 1) / 256)}.${networks % 256}.7`
const fresh = (): { ip: string } => ({ ip: aNewIp() })
let hosts = 7
/** Another address of the same network, which has a separate budget of requests. */
const near = ({ ip }: { ip: string }): { ip: string } => ({
  ip: ip.replace(/\d+$/, String((hosts = (hosts % 250) + 1))),
})

/** Without OPERATORS the operator is the owner of the only workspace; workspaces of agents do not count. */
async function settings(changes: object): Promise<void> {
  const operator = await signedIn(world, await theWorkspace(database))
  const answer = await ask(world, 'PATCH platform/settings', { headers: operator, body: changes })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

function refused({ status, body }: Answer, wanted: number, reason: string): void {
  assert.deepEqual([status, body.reason], [wanted, reason], JSON.stringify(body))
  assert.match(body.error, /^\S.{10,}\.$/s)
  assert.equal(JSON.stringify(body).includes('hk_'), false)
}

const by = (key: string, line: string, body?: object): Promise<Answer> =>
  ask(world, line, { headers: { authorization: `Bearer ${key}` }, ...(body === undefined ? {} : { body }) })

/** Runs `work` while so many have registered today, in a network or (empty) in all, and then sets the count back. */
async function whileRegistered<T>(
  { network, count }: { network: string; count: number },
  work: () => Promise<T>,
): Promise<T> {
  const day = new Date(world.clock.now()).toISOString().slice(0, 10)
  const at = sql`where day = ${day} and network = ${network}`
  const before = await database.maybe<{ count: number }>(sql`select count from agent_registration_counts ${at}`)
  await database.run(sql`
    insert into agent_registration_counts (day, network, count)
    values (${day}, ${network}, ${count})
    on conflict (day, network) do update set count = excluded.count
  `)
  const result = await work()
  await (before === undefined
    ? database.run(sql`delete from agent_registration_counts ${at}`)
    : database.run(sql`update agent_registration_counts set count = ${before.count} ${at}`))
  return result
}

const aDayLater = (): void => world.clock.advance(86_400_000)

test('an agent that solves a challenge gets a workspace on the Free plan, a Default project, and an admin key once', async () => {
  const from = fresh()
  const made = await post(world, await aRegistration(world, { operator_contact: 'ops@example.com' }, from), from)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const { account, workspace, project, key, claim, mcp_url } = made.body
  assert.deepEqual(
    [account.name, account.operator_contact, account.claimed_at],
    ['Deploy bot', 'ops@example.com', null],
  )
  assert.deepEqual([workspace.plan, project.slug], ['free', 'default'])
  assert.match(key, /^hk_\w{43}$/)
  assert.match(claim.token, /^hct_\w{43}$/)
  assert.equal(claim.url, `${world.baseUrl}/account/claim#t=${claim.token}`)
  assert.equal(mcp_url, `${world.baseUrl}/mcp`)
  const me = (await by(key, 'GET me')).body
  assert.deepEqual([me.role, me.workspace.id, me.default_project.id], ['admin', workspace.id, project.id])
  const stored = await database.one<{ rows: string }>(sql`select string_agg(a::text, '') as rows from agent_accounts a`)
  assert.equal(stored.rows.includes(claim.token), false)
  const { audit } = (await by(key, 'GET audit')).body
  assert.ok(audit.some(({ action }: { action: string }) => action === 'register_agent_account'))
})

test('the key works on the admin API and on /mcp, within its workspace', async () => {
  const { key, workspace } = await registered(world, {}, fresh())
  const webhook = await by(key, 'POST webhooks', { name: 'GitHub' })
  assert.equal(webhook.status, 201)
  const accepted = await fetch(webhook.body.webhook.public_url, { method: 'POST', body: '{}' })
  assert.equal(accepted.status, 201)
  const client = await connected(world, { key })
  const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} })
  assert.equal(Reflect.get(Reflect.get(structuredContent ?? {}, 'workspace'), 'id'), workspace.id)
  await client.close()
})

test('the challenge has the format of ALTCHA, version 2, and the Terms to accept', async () => {
  const { status, body, headers } = await challengeFor(world, fresh())
  assert.equal(status, 200)
  assert.deepEqual(
    Object.keys(body.parameters).toSorted((a, b) => a.localeCompare(b)),
    ['algorithm', 'cost', 'data', 'expiresAt', 'keyLength', 'keyPrefix', 'nonce', 'salt'],
  )
  assert.equal(body.parameters.algorithm, 'PBKDF2/SHA-256')
  assert.equal(body.parameters.expiresAt * 1_000, world.clock.now() + 600_000)
  assert.deepEqual([body.terms_version, body.terms_url], ['1', null])
  assert.equal(headers.get('cache-control'), 'no-store')
})

test('each wrong member has its own reason', async () => {
  const from = fresh()
  const good = await aRegistration(world, {}, from)
  const { challenge, solution } = good as { challenge: { parameters: object; signature: string }; solution: object }
  const cases: readonly (readonly [unknown, string])[] = [
    ['{', 'invalid_body'],
    ['[]', 'invalid_body'],
    ['', 'invalid_body'],
    [{ ...good, role: 'owner' }, 'invalid_body'],
    [{ ...good, agent_name: undefined }, 'invalid_agent_name'],
    [{ ...good, agent_name: '  ' }, 'invalid_agent_name'],
    [{ ...good, agent_name: 'x'.repeat(121) }, 'invalid_agent_name'],
    [{ ...good, agent_name: 'two\nlines' }, 'invalid_agent_name'],
    [{ ...good, agent_name: 7 }, 'invalid_agent_name'],
    [{ ...good, operator_contact: 'nobody' }, 'invalid_operator_contact'],
    [{ ...good, operator_contact: `${'x'.repeat(200)}@example.com` }, 'invalid_operator_contact'],
    [{ ...good, operator_contact: 'javascript:alert(1)' }, 'invalid_operator_contact'],
    [{ ...good, operator_contact: 'ops\0@example.com' }, 'invalid_operator_contact'],
    [{ ...good, operator_contact: 'https://example.com/a\nb' }, 'invalid_operator_contact'],
    [{ ...good, challenge: undefined }, 'proof_of_work_required'],
    [{ ...good, solution: undefined }, 'proof_of_work_required'],
    [{ ...good, challenge: 'x' }, 'invalid_challenge'],
    [
      { ...good, challenge: { ...challenge, parameters: { ...challenge.parameters, cost: 1_000_001 } } },
      'invalid_challenge',
    ],
    [
      { ...good, challenge: { ...challenge, parameters: { ...challenge.parameters, keyPrefix: '0' } } },
      'invalid_challenge',
    ],
    [{ ...good, solution: { counter: -1, derivedKey: '00' } }, 'invalid_proof_of_work'],
    [{ ...good, accept_terms: '0' }, 'terms_not_accepted'],
    [{ ...good, accept_terms: undefined }, 'terms_not_accepted'],
    [{ ...good, accept_terms: '0', challenge: undefined, solution: undefined }, 'terms_not_accepted'],
  ]
  for (const [body, reason] of cases) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    refused(await post(world, body, near(from)), 400, reason)
  }
  assert.equal((await post(world, { ...good, accept_terms: '0' }, near(from))).body.terms_version, '1')
  refused(
    await post(world, good, { ...near(from), headers: { 'idempotency-key': 'two words' } }),
    400,
    'invalid_idempotency_key',
  )
  refused(await post(world, { ...good, agent_name: 'x'.repeat(20_000) }, near(from)), 413, 'body_too_large')
  assert.equal((await post(world, { ...good, solution }, near(from))).status, 201)
})

test('a challenge of another signer, a changed one, an expired one and a wrong solution are refused', async () => {
  const from = fresh()
  const good = (await aRegistration(world, {}, from)) as {
    challenge: Parameters<typeof solved>[0]
    solution: { counter: number; derivedKey: string }
  }
  refused(
    await post(world, { ...good, challenge: forged(good.challenge.parameters) }, near(from)),
    400,
    'invalid_challenge',
  )
  const other = { counter: good.solution.counter + 1, derivedKey: good.solution.derivedKey }
  refused(await post(world, { ...good, solution: other }, near(from)), 400, 'invalid_proof_of_work')
  const derivedKey = `000${createHash('sha256').digest('hex').slice(3)}`
  refused(
    await post(world, { ...good, solution: { ...good.solution, derivedKey } }, near(from)),
    400,
    'invalid_proof_of_work',
  )
  world.clock.advance(600_000)
  refused(await post(world, good, near(from)), 400, 'challenge_expired')
})

test('each challenge is used once, also by two requests at the same time, and the conflict names the account without a credential', async () => {
  const from = fresh()
  const body = await aRegistration(world, {}, from)
  const answers = await Promise.all(Array.from({ length: 4 }, () => post(world, body, near(from))))
  const made = answers.filter(({ status }) => status === 201)
  assert.equal(made.length, 1)
  for (const {
    status,
    body: { reason },
  } of answers.filter((answer) => answer !== made[0]))
    assert.ok(status === 409 && ['challenge_spent', 'registration_in_progress'].includes(reason), reason)
  const again = await post(world, body, near(from))
  refused(again, 409, 'challenge_spent')
  assert.equal(again.body.account_id, made[0]?.body.account.id)
  assert.equal(
    (
      await database.one<{ n: number }>(
        sql`select count(*)::int as n from agent_accounts where name = 'Deploy bot' and id = ${decodeId('agentAccount', made[0]?.body.account.id) ?? ''}`,
      )
    ).n,
    1,
  )
})

test('a repeat with the same Idempotency-Key is refused with the account, and another sender may use the same key', async () => {
  const from = { ...fresh(), headers: { 'idempotency-key': 'first' } }
  const made = await registered(world, {}, from)
  const again = await post(world, await aRegistration(world, {}, from), from)
  refused(again, 409, 'already_registered')
  assert.equal(again.body.account_id, made.account.id)
  const stranger = { ...fresh(), headers: { 'idempotency-key': 'first' } }
  assert.notEqual((await registered(world, {}, stranger)).account.id, made.account.id)
  world.clock.advance(86_400_001)
  await runUpkeep(world.app.deps)
  assert.equal((await post(world, await aRegistration(world, {}, from), from)).status, 201)
})

test('a registration that never ended blocks its challenge for a minute', async () => {
  const from = fresh()
  const body = await aRegistration(world, {}, from)
  const { challenge } = body as { challenge: { parameters: { nonce: string } } }
  await database.run(sql`
    insert into agent_registrations (nonce, started_at)
    values (${Buffer.from(challenge.parameters.nonce, 'hex')}, ${new Date(world.clock.now())})
  `)
  refused(await post(world, body, near(from)), 409, 'registration_in_progress')
  world.clock.advance(60_000)
  assert.equal((await post(world, body, near(from))).status, 201)
})

test('a database that is lost in the middle answers registration_incomplete, and the same request succeeds later', async () => {
  const from = fresh()
  const body = await aRegistration(world, {}, from)
  await database.run({
    strings: [
      `create function away() returns trigger language plpgsql as $$ begin raise exception 'away' using errcode = '57P01'; end $$`,
    ],
    values: [],
  })
  await database.run({
    strings: ['create trigger away before insert on agent_accounts execute function away()'],
    values: [],
  })
  refused(await post(world, body, near(from)), 503, 'registration_incomplete')
  await database.run({ strings: ['drop trigger away on agent_accounts'], values: [] })
  refused(await post(world, body, near(from)), 409, 'registration_in_progress')
  world.clock.advance(60_000)
  assert.equal((await post(world, body, near(from))).status, 201)
})

test('a database that is too busy answers agent_registration_unavailable, and the same request succeeds immediately', async () => {
  const from = fresh()
  const body = await aRegistration(world, {}, from)
  await database.run({
    strings: [
      `create function busy() returns trigger language plpgsql as $$ begin raise exception 'busy' using errcode = '57014'; end $$`,
    ],
    values: [],
  })
  await database.run({
    strings: ['create trigger busy before insert on agent_accounts execute function busy()'],
    values: [],
  })
  refused(await post(world, body, near(from)), 503, 'agent_registration_unavailable')
  await database.run({ strings: ['drop trigger busy on agent_accounts'], values: [] })
  assert.equal((await post(world, body, near(from))).status, 201)
})

test('an address has five attempts and one more every 12 minutes; an IPv6 address counts by its /64', async () => {
  const wrong = async (ip: string): Promise<Answer> => {
    // From another /64 of the same network, which has a separate budget.
    const body = await aRegistration(world, {}, { ip: `2001:db8:1:${(hosts += 1).toString(16)}00::1` })
    return post(world, { ...body, solution: { counter: 0, derivedKey: '0'.repeat(64) } }, { ip })
  }
  for (let attempt = 0; attempt < 5; attempt += 1)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    refused(await wrong(`2001:db8:1:2::${attempt}`), 400, 'invalid_proof_of_work')
  const limited = await wrong('2001:db8:1:2:ffff::1')
  refused(limited, 429, 'rate_limited')
  assert.equal(limited.headers.get('retry-after'), '720')
  refused(await wrong('2001:db8:1:3::1'), 400, 'invalid_proof_of_work')
  world.clock.advance(720_000)
  refused(await wrong('2001:db8:1:2::9'), 400, 'invalid_proof_of_work')
  refused(await wrong('2001:db8:1:2::9'), 429, 'rate_limited')
})

test('challenges are limited by address too', async () => {
  const from = fresh()
  const answers = await Promise.all(Array.from({ length: 25 }, () => challengeFor(world, from)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 20)
  refused(answers.find(({ status }) => status !== 200) ?? assert.fail(), 429, 'rate_limited')
})

const there = (index: number) => ({ ip: `203.0.113.${index}` })
const inV6 = (index: number) => ({ ip: `2001:db8:5:${index}::1` })

test('the cap of a day, and the tenth of it that one network can use, are exact across two nodes', async () => {
  aDayLater()
  const second = await aWorld({ beside: world, now: world.clock.now(), env: { ...PROXIED, LOG_LEVEL: 'silent' } })
  try {
    await settings({ agent_registrations_per_day: 30 })
    // Hard enough for the last one, as if they had come one after the other.
    const bodies = await whileRegistered({ network: '203.0.113.0/24', count: 2 }, () =>
      Promise.all(Array.from({ length: 6 }, (_none, index) => aRegistration(world, {}, there(index)))),
    )
    const inOne = await Promise.all(
      bodies.map((body, index) => post(index % 2 === 0 ? world : second, body, there(index))),
    )
    assert.equal(inOne.filter(({ status }) => status === 201).length, 3)
    const limited = inOne.find((answer) => answer.status !== 201) ?? assert.fail()
    assert.deepEqual([limited.status, limited.body.reason], [429, 'source_daily_limit'])
    assert.equal(
      Number(limited.headers.get('retry-after')),
      Math.ceil((86_400_000 - (world.clock.now() % 86_400_000)) / 1_000),
    )
    const readyV6 = await whileRegistered({ network: '2001:db8:5::/48', count: 2 }, () =>
      Promise.all(Array.from({ length: 5 }, (_none, index) => aRegistration(world, {}, inV6(index)))),
    )
    const v6 = await Promise.all(readyV6.map((one, index) => post(index % 2 === 0 ? world : second, one, inV6(index))))
    assert.equal(v6.filter((answer) => answer.status === 201).length, 3)
    const spread: Answer[] = []
    const from = Array.from({ length: 30 }, fresh)
    // Their challenges, before the cap refuses them, and as hard as the last one.
    const ready = await whileRegistered({ network: '', count: 29 }, () =>
      Promise.all(from.map((at) => aRegistration(world, {}, at))),
    )
    // Six at a time wait for the locked count. Thirty would reach the deadline of a statement on a loaded machine.
    for (let group = 0; group < 5; group += 1) {
      const answers = ready
        .slice(group * 6, group * 6 + 6)
        .map((one, index) => post(index % 2 === 0 ? world : second, one, from[group * 6 + index]))
      // oxlint-disable-next-line no-await-in-loop -- one group after the other
      spread.push(...(await Promise.all(answers)))
    }
    assert.deepEqual(
      spread.map(({ status }) => status).toSorted((a, b) => a - b),
      [...Array<number>(24).fill(201), ...Array<number>(6).fill(429)],
    )
    refused(spread.find((answer) => answer.status !== 201) ?? assert.fail(), 429, 'daily_cap_reached')
    const early = await challengeFor(second, fresh())
    refused(early, 429, 'daily_cap_reached')
    assert.ok(Number(early.headers.get('retry-after')) > 0)
    const { count } = await database.one<{ count: number }>(
      sql`select count from agent_registration_counts where network = '' order by day desc limit 1`,
    )
    assert.equal(count, 30)
    aDayLater()
    await registered(world, {}, { ip: '203.0.113.99' })
  } finally {
    await settings({ agent_registrations_per_day: 100 })
    await second.stop()
  }
})

test('a cap of the day below ten leaves one registration to each network', async () => {
  aDayLater()
  await settings({ agent_registrations_per_day: 2 })
  const answers: Answer[] = []
  const from = ['203.0.113.1', '203.0.113.2', '198.51.100.1'].map((ip) => ({ ip }))
  const bodies = await whileRegistered({ network: '', count: 1 }, () =>
    Promise.all(from.map((at) => aRegistration(world, {}, at))),
  )
  for (const [index, body] of bodies.entries()) answers.push(await post(world, body, from[index]))
  await settings({ agent_registrations_per_day: 100 })
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.reason]),
    [
      [201, undefined],
      [429, 'source_daily_limit'],
      [201, undefined],
    ],
  )
})

test('a challenge that a cap refused is not used up, and a reached cap refuses the challenge already', async () => {
  const from = fresh()
  const body = await aRegistration(world, {}, from)
  await settings({ agent_registrations_per_day: 0 })
  refused(await post(world, body, near(from)), 429, 'daily_cap_reached')
  refused(await challengeFor(world, near(from)), 429, 'daily_cap_reached')
  await settings({ agent_registrations_per_day: 100 })
  assert.equal((await post(world, body, near(from))).status, 201)
  await settings({ agent_registrations_per_day: 9 })
  refused(await challengeFor(world, near(from)), 429, 'source_daily_limit')
  await settings({ agent_registrations_per_day: 100 })
})

test('a challenge is for the network that got it', async () => {
  const from = fresh()
  const body = await aRegistration(world, {}, from)
  const elsewhere = await post(world, body, fresh())
  refused(elsewhere, 400, 'invalid_challenge')
  assert.match(elsewhere.body.error, /is for the network 100\.\d+\.\d+\.0\/24, and the registration came from 100\./)
  assert.equal((await post(world, body, near(from))).status, 201)
})

test('a challenge of an easier time of the day is refused, unless it is one doubling easier', async () => {
  aDayLater()
  const [from, other] = [fresh(), fresh()]
  const [easy, hard] = [await aRegistration(world, {}, from), await aRegistration(world, {}, other)]
  await registered(world, {}, fresh())
  const day = new Date(world.clock.now()).toISOString().slice(0, 10)
  const fill = (count: number): Promise<number> =>
    database.run(sql`update agent_registration_counts set count = ${count} where day = ${day} and network = ''`)
  await fill(50)
  const late = await post(world, easy, near(from))
  refused(late, 400, 'challenge_expired')
  assert.match(late.body.error, /too easy now/)
  await fill(25)
  assert.equal((await post(world, hard, near(other))).status, 201)
  await fill(2)
})

test('registrations without a challenge of this server count like requests for a challenge', async () => {
  const from = fresh()
  const good = await aRegistration(world, {}, near(from))
  const challenge = forged((good as { challenge: { parameters: Parameters<typeof forged>[0] } }).challenge.parameters)
  for (let sent = 0; sent < 10; sent += 1) {
    refused(await post(world, '{', from), 400, 'invalid_body')
    refused(await post(world, { ...good, challenge }, from), 400, 'invalid_challenge')
  }
  refused(await post(world, '{', from), 429, 'rate_limited')
  refused(await challengeFor(world, from), 429, 'rate_limited')
  assert.equal((await post(world, good, from)).status, 201, 'a solved challenge has a separate budget')
})

test('a database that refuses the identity of an agent answers identity_provider_error, and the challenge stays usable', async () => {
  const from = fresh()
  const body = await aRegistration(world, {}, from)
  await statement(
    database,
    'create function no_identity() returns trigger language plpgsql as $$ begin raise check_violation; end $$',
  )
  await statement(database, 'create trigger no_identity before insert on users execute function no_identity()')
  refused(await post(world, body, near(from)), 502, 'identity_provider_error')
  await statement(database, 'drop trigger no_identity on users')
  assert.equal((await post(world, body, near(from))).status, 201)
})

test('the work grows as the cap fills, and for a network that has registered agents', async () => {
  aDayLater()
  const hard = await aWorld({ beside: world, now: world.clock.now(), env: { ...PROXIED, AGENT_WORK: '4096000' } })
  const costAt = async (ip = aNewIp()): Promise<number> => (await challengeFor(hard, { ip })).body.parameters.cost
  try {
    assert.equal(await costAt(), 1_000)
    await registered(world, {}, { ip: '198.51.100.1' })
    assert.equal(await costAt('198.51.100.77'), 2_000)
    assert.equal(await costAt(), 1_000)
    const day = new Date(world.clock.now()).toISOString().slice(0, 10)
    for (const [count, cost] of [
      [24, 1_000],
      [25, 2_000],
      [50, 4_000],
      [70, 8_000],
      [85, 16_000],
      [95, 32_000],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await database.run(sql`update agent_registration_counts set count = ${count} where day = ${day} and network = ''`)
      // oxlint-disable-next-line no-await-in-loop -- as above
      assert.equal(await costAt(), cost)
    }
    await database.run(sql`update agent_registration_counts set count = 1 where day = ${day} and network = ''`)
  } finally {
    await hard.stop()
  }
})

test('the operator turns registration off, and changes the Terms', async () => {
  await settings({ terms_version: '2', terms_url: 'https://hooks.example.com/terms' })
  const { body } = await challengeFor(world, fresh())
  assert.deepEqual([body.terms_version, body.terms_url], ['2', 'https://hooks.example.com/terms'])
  const from = fresh()
  const old = await post(world, await aRegistration(world, { accept_terms: '1' }, from), from)
  refused(old, 400, 'terms_not_accepted')
  assert.equal(old.body.terms_version, '2')
  const before = await aRegistration(world, {}, near(from))
  await settings({ agent_registration: false })
  refused(await challengeFor(world, fresh()), 503, 'agent_registration_disabled')
  refused(await post(world, before, near(from)), 503, 'agent_registration_disabled')
  refused(await post(world, {}, fresh()), 503, 'agent_registration_disabled')
  const text = await (await fetch(`${world.baseUrl}/llms.txt`)).text()
  assert.match(text, /turned agent registration off/)
  assert.doesNotMatch(text, /register\/challenge/)
  await settings({ agent_registration: true, terms_version: '1', terms_url: null })
})

test('until a person claims the account, billing, requests to the operators, invites and keys are refused with claim_required', async () => {
  const { key } = await registered(world, {}, fresh())
  const lines: readonly (readonly [string, object?])[] = [
    ['GET billing'],
    ['POST billing/checkout', { plan: 'team' }],
    ['POST billing/portal'],
    ['POST sso/requests', { domains: ['example.com'] }],
    ['POST organization/requests', { domains: ['example.com'] }],
    ['POST google-workspace/link', { domains: ['example.com'] }],
    ['GET invites'],
    ['POST invites', { email: 'ada@example.com', role: 'viewer' }],
    ['POST api-keys', { name: 'Another', role: 'viewer' }],
  ]
  for (const [line, body] of lines) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const answer = await by(key, line, body)
    refused(answer, 403, 'agent_not_permitted')
    assert.deepEqual([answer.body.code, answer.body.claim_required], ['agent_not_permitted', true], line)
  }
  const member = await world.admin('GET', 'invites')
  assert.deepEqual([member.body.reason, member.body.claim_required], ['agent_not_permitted', undefined])
})

test('a person claims the account once and becomes the owner; the key of the agent continues to work', async () => {
  const { key, claim, workspace, account } = await registered(world, {}, fresh())
  const person = await aWorkspace(world, database, `claimer-${networks}`)
  const headers = await signedIn(world, person)
  const claimed = await ask(world, 'POST agent-accounts/claim', { headers, body: { claim_token: claim.token } })
  assert.equal(claimed.status, 200, JSON.stringify(claimed.body))
  assert.deepEqual([claimed.body.account.id, claimed.body.workspace.id], [account.id, workspace.id])
  assert.equal(claimed.body.account.claimed_at, new Date(world.clock.now()).toISOString())
  const me = (await ask(world, 'GET me', { headers })).body
  assert.deepEqual([me.role, me.workspace.id], ['owner', workspace.id])
  const members = await database.many<{ role: string }>(
    sql`select role from members where workspace_id = ${decodeId('workspace', workspace.id) ?? ''} order by role`,
  )
  assert.deepEqual(
    members.map(({ role }) => role),
    ['admin', 'owner'],
  )
  assert.equal((await by(key, 'POST rules', { name: 'Mine', dataset: 'mine' })).status, 201)
  const invites = await by(key, 'GET invites')
  assert.deepEqual([invites.body.reason, invites.body.claim_required], ['agent_not_permitted', undefined])
  assert.equal((await ask(world, 'POST api-keys', { headers, body: { name: 'Mine', role: 'admin' } })).status, 201)
  const { audit } = (await ask(world, 'GET audit', { headers })).body
  assert.ok(audit.some(({ action }: { action: string }) => action === 'claim_agent_account'))
  const again = await ask(world, 'POST agent-accounts/claim', { headers, body: { claim_token: claim.token } })
  refused(again, 404, 'claim_over')
  refused(
    await ask(world, 'POST agent-accounts/claim', { headers, body: { claim_token: 'hct_none' } }),
    404,
    'claim_over',
  )
})

test('of two people who claim at the same time, one becomes the owner', async () => {
  const { claim, workspace } = await registered(world, {}, fresh())
  const people = await Promise.all(
    ['a', 'b'].map(async (name) => signedIn(world, await aWorkspace(world, database, `rival-${name}-${networks}`))),
  )
  const answers = await Promise.all(
    people.map((headers) => ask(world, 'POST agent-accounts/claim', { headers, body: { claim_token: claim.token } })),
  )
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 404],
  )
  const { n } = await database.one<{ n: number }>(
    sql`select count(*)::int as n from members where role = 'owner' and workspace_id = ${decodeId('workspace', workspace.id) ?? ''}`,
  )
  assert.equal(n, 1)
})

test('no key claims an account', async () => {
  const { key, claim } = await registered(world, {}, fresh())
  refused(await by(key, 'POST agent-accounts/claim', { claim_token: claim.token }), 403, 'agent_not_permitted')
})

test('llms.txt gives an agent the address of everything that it needs', async () => {
  const response = await fetch(`${world.baseUrl}/llms.txt`)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain/)
  const text = await response.text()
  for (const path of [
    '/mcp',
    '/v1/agents/register/challenge',
    '/v1/agents/register',
    '/openapi.json',
    '/docs/register',
    '/docs/agents-connect',
  ])
    assert.ok(text.includes(`${world.baseUrl}${path}`), path)
  assert.equal((await fetch(`${world.baseUrl}/account/claim`)).status, 200)
})
