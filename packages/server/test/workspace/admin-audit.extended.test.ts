import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { INSTALLATION } from '../../src/resources/operate/operators/index.ts'
import { randomText } from '../../src/platform/ids.ts'
import {
  ALL,
  ask,
  auditRows,
  call,
  created,
  database,
  enterPlaces,
  home,
  leavePlaces,
  pathOf,
  personally,
  said,
  sink,
  type Named,
} from '../stage/admin-asking.ts'
import { aName } from '../stage/fixtures.ts'
import type { Answer } from '../stage/harness.ts'
import { example } from '../stage/route-examples.ts'

/** The rows that every admin route writes to the audit log, and the secrets that it writes nowhere. */
before(enterPlaces)
after(leavePlaces)

test('no other answer contains a secret, and neither does the audit log, nor the database in plain text', async () => {
  const verification = `vs_${randomText(20)}`
  const { webhook } = await created(home, 'webhooks', { verification: { scheme: 'hmac', secret: verification } })
  const shown: string[] = []
  const once = async (path: string, body: object, member: string): Promise<Answer['body']> => {
    const made = await created(home, path, body)
    shown.push(made[member])
    said.pop()
    return made
  }
  const { destination } = await once(
    'destinations',
    { url: sink.url, headers: { Authorization: 'Bearer theirs-7f3a' } },
    'signing_secret',
  )
  await once('ingest-keys', {}, 'key')
  await once('ingest-keys', { require_signature: true }, 'signing_secret')
  shown.push((await personally(home, 'POST api-keys', { name: aName('made'), role: 'admin' })).body.key)
  said.pop()
  const other = `vs_${randomText(20)}`
  await call(home, `PATCH webhooks/${webhook.id}`, { body: { verification: { scheme: 'hmac', secret: other } } })
  for (const named of ALL.filter(({ route }) => route.method === 'GET'))
    await ask(named, home, { asked: await example(named, home) })
  await call(home, `GET destinations/${destination.id}`)
  const secrets = [verification, other, ...shown, home.key]
  for (const secret of secrets) assert.ok(!said.some((text) => text.includes(secret)), 'an answer shows a secret')
  const tables = ['audit_rows', 'destinations', 'webhooks', 'ingest_keys', 'api_keys', 'credentials', 'submissions']
  for (const table of tables) {
    const rows = await database.many<{ row: string }>({
      strings: [`select t::text as row from ${table} t`],
      values: [],
    })
    for (const secret of [...secrets, 'theirs-7f3a', webhook.webhook_slug]) {
      const hex = Buffer.from(secret).toString('hex')
      assert.ok(
        !rows.some(({ row }) => row.includes(secret) || row.includes(hex)),
        `${table} contains a secret in plain text`,
      )
    }
  }
})

/** The audit word of a verb, where it differs from the verb. */
const WORDS: Readonly<Record<string, string>> = { remove: 'delete', revoke: 'revoke', replace: 'update' }

/** `webhooks.rotateVerificationSecret` → rotate: the first word of its action. */
const wordOf = ({ name }: Named): string => {
  const [word = ''] = (name.split('.')[1] ?? '').split(/(?=[A-Z])/)
  return WORDS[word] ?? word
}

/** The agent and the address in a row. A row of a workspace never shows the address of an operator. */
function throughOf(
  { route: { callers, operator, role } }: Named,
  { key, chain }: { key: string; chain: string },
): readonly (string | null)[] {
  if (operator === true) return ['operator', chain === INSTALLATION ? '127.0.0.1' : null]
  return [callers === 'people' || role === 'owner' ? null : `api_key:${key}`, '127.0.0.1']
}

test('every change writes one audit row with the person, the change and the origin; a request that changes nothing writes none, and neither does a refusal', async () => {
  const me = (await call(home, 'GET me')).body
  for (const named of ALL) {
    const asked = await example(named, home)
    const had = new Set((await auditRows()).map(({ row }) => row))
    const answer = await ask(named, home, { asked })
    const added = (await auditRows()).filter((one) => !had.has(one.row))
    // The route itself declares that it changes nothing: reads, searches and dry runs.
    if (named.route.whileSuspended === 'read') {
      assert.equal(added.length, 0, named.name)
      continue
    }
    const [row] = added
    assert.ok(row !== undefined && added.length === 1, named.name)
    const through = throughOf(named, { key: me.api_key.id, chain: row.workspace_id })
    assert.deepEqual([row.actor, row.agent, row.ip], [asked.actor ?? me.user.id, ...through], named.name)
    assert.match(row.action, /^[a-z]+_[a-z_]+$/)
    assert.ok([wordOf(named), 'revoke'].includes(row.action.split('_')[0] ?? ''), `${named.name}: ${row.action}`)
    const ids = Object.values<{ id?: string } | null>(answer.body).map((value) => value?.id)
    assert.ok(
      [asked.target, ...Object.values(asked.params ?? {}), ...ids].includes(row.target ?? ''),
      `${named.name}: ${row.target}`,
    )
    const refused = await call(home, `${named.route.method} ${pathOf(named, asked)}`, { body: { frobnicate: 1 } })
    if (refused.status >= 400) assert.equal((await auditRows()).length, had.size + 1, named.name)
  }
})

/** Writes of agents that change no setting and no state that a person set: the reason for each. */
const CHANGES_NOTHING: Readonly<Record<string, string>> = {
  test_ai_provider: 'asks a provider, and stores nothing',
  test_destination: 'sends a sample, and stores nothing',
  test_forwarder: 'sends a sample, and stores nothing',
  test_source: 'reads a sample, and stores nothing',
  sign_sample_request: 'signs a sample, and stores nothing',
  probe_destination: 'makes a waiting delivery due, which its attempts show',
  recover_destination: 'begins a replay; a destination that it turns on has a row of its own',
  run_cron_trigger: 'makes an event, which its origin names',
  run_workflow: 'starts an instance, which the details name',
  verify_quarantine: 'looks at rejected requests again',
  apply_config: 'each change of the file has a row of its own',
}

type Shown = { readonly before?: object | null; readonly after?: object | null }

function assertShown(named: Named, { action, details }: { readonly action: string; readonly details: string }): void {
  const shown = JSON.parse(details) as Shown
  const why = `${named.name}: ${details}`
  assert.ok('before' in shown && 'after' in shown, why)
  const { before: was, after: is } = shown
  const kind = wordOf(named)
  if (kind === 'create') assert.ok(was === null && is !== null, why)
  if (kind === 'delete' && !action.startsWith('revoke')) assert.ok(was !== null && is === null, why)
  // The list of the example of network.update is in force already.
  if (kind === 'update' && named.name !== 'network.update') assert.notDeepEqual(was, is, why)
}

test('every change by an agent shows before and after; a creation or a deletion shows one of them', async () => {
  for (const named of ALL.filter(({ route }) => route.callers === 'all' && route.whileSuspended !== 'read')) {
    const asked = await example(named, home)
    const had = new Set((await auditRows()).map(({ row }) => row))
    const answer = await ask(named, home, { asked })
    assert.ok(answer.status < 300, `${named.name}: ${answer.text}`)
    const rows = (await auditRows()).filter(({ row, agent }) => !had.has(row) && agent !== null)
    for (const row of rows.filter(({ action }) => CHANGES_NOTHING[action] === undefined)) assertShown(named, row)
  }
})

test('no audit row of any route contains a secret, a URL slug or a payload', async () => {
  const secrets = new Set<string>([home.key])
  const begun = said.length
  for (const named of ALL) {
    const asked = await example(named, home)
    for (const secret of JSON.stringify(asked.body ?? {}).match(/canary-[\w-]+/g) ?? []) secrets.add(secret)
    await ask(named, home, { asked })
  }
  const shown = said.slice(begun).join('\n')
  for (const [secret] of shown.matchAll(/(?:hk|ik_live|whsec)_[0-9A-Za-z+/=]{30,}/g)) secrets.add(secret)
  for (const [, slug = ''] of shown.matchAll(/"webhook_slug":"([^"]+)"/g)) secrets.add(slug)
  assert.ok(secrets.size > 30, `${secrets.size} secrets`)
  const rows = (await auditRows()).map(({ row }) => row).join('\n')
  for (const secret of secrets) assert.ok(!rows.includes(secret), 'an audit row contains a secret')
})
