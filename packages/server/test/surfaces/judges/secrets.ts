import assert from 'node:assert/strict'
import { randomText } from '../../../src/platform/ids.ts'
import { ask, call, created, database, home, personally, said, sink } from '../../stage/admin-asking.ts'
import { aName } from '../../stage/fixtures.ts'
import type { Answer } from '../../stage/harness.ts'
import { sharedExample } from '../../stage/route-examples.ts'
import type { Judge } from './judge.ts'

/** Stored secrets by name. Each was sent to the server, or shown by it once. */
const secrets = new Map<string, string>()

/** Creates resources with secrets, and forgets the answers that may show these. */
async function storeSecrets(): Promise<{ readonly destination: string; readonly slug: string }> {
  const once = async (path: string, body: object, member: string): Promise<Answer['body']> => {
    const made = await created(home, path, body)
    said.pop()
    secrets.set(`${member} of ${path}`, made[member])
    return made
  }
  const verification = `vs_${randomText(20)}`
  const { webhook } = await created(home, 'webhooks', { verification: { scheme: 'hmac', secret: verification } })
  const headers = { Authorization: 'Bearer theirs-7f3a' }
  const { destination } = await once('destinations', { url: sink.url, headers }, 'signing_secret')
  await once('ingest-keys', {}, 'key')
  await once('ingest-keys', { require_signature: true }, 'signing_secret')
  const { key } = (await personally(home, 'POST api-keys', { name: aName('made'), role: 'admin' })).body
  said.pop()
  const other = `vs_${randomText(20)}`
  await call(home, `PATCH webhooks/${webhook.id}`, { body: { verification: { scheme: 'hmac', secret: other } } })
  secrets
    .set('the first verification secret', verification)
    .set('the second verification secret', other)
    .set('an API key', key)
    .set('the key of the stage', home.key)
  return { destination: destination.id, slug: webhook.webhook_slug }
}

const shownIn = (texts: readonly string[]): readonly string[] =>
  [...secrets].filter(([, secret]) => texts.some((text) => text.includes(secret))).map(([name]) => name)

const TABLES = ['audit_rows', 'destinations', 'webhooks', 'ingest_keys', 'api_keys', 'credentials', 'submissions']

async function assertNotInTables(more: readonly string[]): Promise<void> {
  for (const table of TABLES) {
    const rows = await database.many<{ row: string }>({
      strings: [`select t::text as row from ${table} t`],
      values: [],
    })
    const text = rows.map(({ row }) => row).join('\n')
    for (const secret of [...secrets.values(), ...more]) {
      const hex = Buffer.from(secret).toString('hex')
      assert.ok(!text.includes(secret) && !text.includes(hex), `${table} contains a secret in plain text`)
    }
  }
}

export const shownOnce: Judge = {
  promise: 'no other answer contains a secret, and neither does the audit log, nor the database in plain text',
  about: ({ route }) => route.method === 'GET',
  around: async (walk) => {
    const begun = said.length
    const { destination, slug } = await storeSecrets()
    await walk()
    await call(home, `GET destinations/${destination}`)
    assert.deepEqual(shownIn(said.slice(begun)), [], 'An answer shows a secret.')
    await assertNotInTables(['theirs-7f3a', slug])
  },
  judge: async (named) => {
    const { text } = await ask(named, home, { asked: await sharedExample(named) })
    assert.deepEqual(shownIn([text]), [], text)
  },
}
