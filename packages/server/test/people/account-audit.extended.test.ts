import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeId, encodeId, signInRoutes, type SignInRoute } from '@postroad/contract'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { randomText } from '../../src/platform/ids.ts'
import type { Log } from '../../src/platform/log.ts'
import { insertToken, type Purpose } from '../../src/resources/people/one-time-tokens/queries.ts'
import { aPerson, PASSWORD, type Person } from '../stage/accounts.ts'
import { Authenticator } from '../stage/authenticator.ts'
import { Browser } from '../stage/browser.ts'
import { behind } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { anIdentityProvider, settingsFor, signInThere, type IdentityProvider } from '../stage/identity-provider.ts'
import { aWorkspace } from '../stage/people.ts'

/**
 * An action of a person on their account writes an audit row in the workspace where they are a member at that moment,
 * and in no other; a suspension concerns the workspace, not the person (docs/adr/0046). The first test fails when a
 * route of sign-in is missing here.
 */
const ORIGIN = 'http://localhost:4680'
const NEW_PASSWORD = 'copper meadow whistle nine'

let world: World
let database: Database
let provider: IdentityProvider
let hash: string
let main: string
let second: string
const logged: { readonly event: string; readonly action: unknown; readonly user: unknown }[] = []
const note = (event: string, fields: Readonly<Record<string, unknown>> = {}): void =>
  void logged.push({ event, action: fields['action'], user: fields['user'] })
const log: Log = { debug: note, info: note, warn: note, error: note }

before(async () => {
  provider = await anIdentityProvider()
  world = await aWorld({
    log,
    env: { ROLES: 'web', PUBLIC_URL: ORIGIN, LOG_LEVEL: 'info', ...settingsFor(provider) },
    loops: [],
  })
  database = behind(world)
  hash = await world.app.deps.passwordHash.hash(PASSWORD)
  main = decodeId('workspace', world.installed.workspace.id) ?? ''
  second = (await aWorkspace(world, database, 'second')).workspaceId
})
after(async () => {
  await database.close()
  await world.stop()
  await provider.stop()
})

type Owner = Person & { readonly browser: Browser }
type Case = {
  readonly rows: readonly string[]
  /** The state that the case needs. */ readonly first?: (owner: Owner) => Promise<unknown>
  readonly run: (owner: Owner, made: never) => Promise<Answer>
}

const fresh = (): Browser => new Browser(world.address)

/** Creates a token as if it had been mailed. */
async function aToken(
  purpose: Purpose,
  { userId, email = null }: { userId: string; email?: string | null },
): Promise<string> {
  const token = randomText(43)
  await insertToken(database, {
    hash: hashCredential(token),
    purpose,
    userId,
    workspaceId: purpose === 'sign_in' ? main : null,
    email,
    expiresAt: new Date(world.clock.now() + 600_000),
  })
  return token
}

async function aPasskey({ browser }: Owner): Promise<{ authenticator: Authenticator; id: string }> {
  const authenticator = new Authenticator()
  const { options } = (await browser.call('POST account/passkeys/options', {})).body
  const { body } = await browser.call('POST account/passkeys', {
    name: 'Laptop',
    passkey: authenticator.create(options, ORIGIN),
  })
  return { authenticator, id: body.passkey.id }
}

function made<Made>(
  first: (owner: Owner) => Promise<Made>,
  run: (owner: Owner, made: Made) => Promise<Answer>,
  rows: readonly string[],
): Case {
  return { rows, first, run }
}

const byProvider = ({ email, userId }: Owner): Promise<Answer> =>
  signInThere(provider, fresh(), { baseUrl: ORIGIN, claims: { sub: userId, email, email_verified: true } })
/** The route changes nothing of an account: it creates a link, a challenge or a cookie that nobody has used. */
const NOTHING: readonly string[] = []

const CASES: Readonly<Record<string, readonly Case[]>> = {
  signIn: [
    { rows: ['sign_in'], run: ({ email }) => fresh().call('POST session', { email, password: PASSWORD }) },
    {
      rows: ['sign_in'],
      run: async (owner) => fresh().call('POST session', { token: await aToken('sign_in', { userId: owner.userId }) }),
    },
    made(
      aPasskey,
      async (_owner, { authenticator }) =>
        fresh().call('POST session', {
          passkey: authenticator.get((await fresh().call('POST session/passkey-options', {})).body.options, ORIGIN),
        }),
      ['sign_in'],
    ),
  ],
  signOut: [{ rows: ['sign_out'], run: ({ browser }) => browser.call('DELETE session') }],
  requestLink: [{ rows: NOTHING, run: ({ email }) => fresh().call('POST session/links', { email }) }],
  offerPasskey: [{ rows: NOTHING, run: () => fresh().call('POST session/passkey-options', {}) }],
  beginOidc: [{ rows: NOTHING, run: () => fresh().call('POST session/oidc', {}) }],
  requestReset: [{ rows: NOTHING, run: ({ email }) => fresh().call('POST account/password-reset', { email }) }],
  resetPassword: [
    {
      rows: ['reset_password', 'sign_in'],
      run: async ({ userId }) =>
        fresh().call('PUT account/password-reset', {
          token: await aToken('reset_password', { userId }),
          new_password: NEW_PASSWORD,
        }),
    },
  ],
  requestEmail: [
    {
      rows: ['request_email_change'],
      run: ({ browser, userId }) => browser.call('POST account/email', { email: `new-${userId}@example.com` }),
    },
  ],
  confirmEmail: [
    {
      rows: ['change_email'],
      run: async ({ browser, userId }) =>
        browser.call('PUT account/email', {
          token: await aToken('confirm_email', { userId, email: `moved-${userId}@example.com` }),
        }),
    },
  ],
  changePassword: [
    {
      rows: ['change_password'],
      run: ({ browser }) =>
        browser.call('PUT account/password', { current_password: PASSWORD, new_password: NEW_PASSWORD }),
    },
  ],
  preparePasskey: [{ rows: NOTHING, run: ({ browser }) => browser.call('POST account/passkeys/options', {}) }],
  addPasskey: [
    made(
      async ({ browser }) =>
        new Authenticator().create((await browser.call('POST account/passkeys/options', {})).body.options, ORIGIN),
      ({ browser }, passkey) => browser.call('POST account/passkeys', { name: 'Phone', passkey }),
      ['add_passkey'],
    ),
  ],
  removePasskey: [
    made(aPasskey, ({ browser }, { id }) => browser.call(`DELETE account/passkeys/${id}`), ['remove_passkey']),
  ],
  endSession: [
    made(
      async ({ browser }) => (await browser.call('GET account/sessions')).body.sessions[0],
      ({ browser }, { id }: { id: string }) => browser.call(`DELETE account/sessions/${id}`),
      ['end_session'],
    ),
  ],
  endAllSessions: [{ rows: ['sign_out_everywhere'], run: ({ browser }) => browser.call('DELETE account/sessions') }],
  // This path is not among the routes, because browsers reach it by redirects.
  'GET session/oidc/callback': [
    { rows: ['link_identity', 'sign_in'], run: byProvider },
    made(byProvider, byProvider, ['sign_in']),
  ],
}

const CHANGING = Object.entries<SignInRoute>(signInRoutes).filter(([, { method }]) => method !== 'GET')

test('these tests ask every route of sign-in and of the account that is not a GET', () => {
  assert.deepEqual(
    Object.keys(CASES)
      .filter((name) => !name.startsWith('GET '))
      .toSorted(),
    CHANGING.map(([name]) => name).toSorted(),
  )
})

/** A member of the main workspace who is signed in there with a password. */
async function anOwner(): Promise<Owner> {
  // A minute later no rate limit applies.
  world.clock.advance(60_000)
  const person = await aPerson(world, database)
  await database.run(sql`insert into passwords (user_id, hash, changed_at) values (${person.userId}, ${hash}, now())`)
  const browser = fresh()
  assert.equal((await browser.call('POST session', { email: person.email, password: PASSWORD })).status, 200)
  return { ...person, browser }
}

const leaveMain = ({ userId }: Owner) =>
  database.run(sql`delete from members where user_id = ${userId} and workspace_id = ${main}`)
const suspend = (at: Date | null) => database.run(sql`update workspaces set suspended_at = ${at} where id = ${main}`)

type MemberStatus = {
  readonly what: string
  readonly begin: (owner: Owner) => Promise<unknown>
  readonly end?: () => Promise<unknown>
  /** The chain that gets the rows. */ readonly chain: 'main' | 'second' | 'none'
}

const MEMBERSHIPS: readonly MemberStatus[] = [
  { what: 'a member', begin: async () => undefined, chain: 'main' },
  {
    what: 'a member of a workspace that is suspended',
    begin: () => suspend(new Date(world.clock.now())),
    end: () => suspend(null),
    chain: 'main',
  },
  {
    what: 'a person who was removed, and is a member of another workspace',
    begin: async (owner) => {
      await database.run(
        sql`insert into members (workspace_id, user_id, role, created_at) values (${second}, ${owner.userId}, 'viewer', now())`,
      )
      await leaveMain(owner)
    },
    chain: 'second',
  },
  { what: 'a person who was removed, and is in no workspace', begin: leaveMain, chain: 'none' },
]

const rowsOf = ({ userId }: Owner) =>
  database.many<{ workspace_id: string; action: string; ip: string | null }>(
    sql`select workspace_id, action, ip from audit_rows where actor = ${encodeId('user', userId)} order by at, id`,
  )

for (const { what, begin, end, chain } of MEMBERSHIPS) {
  describe(`account actions of ${what}`, () => {
    for (const [name, cases] of Object.entries(CASES)) {
      test(`${name} succeeds, and has ${chain === 'none' ? 'a line in the log and no row' : 'its audit rows'} there`, async () => {
        for (const { rows, first, run } of cases) {
          const owner = await anOwner()
          const ready = (await first?.(owner)) as never
          await begin(owner)
          try {
            const [had, lines] = [(await rowsOf(owner)).length, logged.length]
            const answer = await run(owner, ready)
            assert.ok(answer.status < 400, JSON.stringify(answer.body))
            const added = (await rowsOf(owner)).slice(had)
            const at = { main, second, none: undefined }[chain]
            assert.deepEqual(
              added,
              at === undefined ? [] : rows.map((action) => ({ workspace_id: at, action, ip: '127.0.0.1' })),
            )
            const reported = logged
              .slice(lines)
              .filter(({ event, user }) => event === 'account.changed' && user === encodeId('user', owner.userId))
            assert.deepEqual(
              reported.map(({ action }) => action),
              at === undefined ? rows : [],
            )
          } finally {
            await end?.()
          }
        }
      })
    }
  })
}

test('a rejected request writes no row', async () => {
  const { browser, ...owner } = await anOwner()
  const had = await rowsOf({ browser, ...owner })
  const passkey = { id: 'x', rawId: 'x', type: 'public-key', response: {} }
  const refused = await Promise.all([
    fresh().call('POST session', { email: owner.email, password: 'wrong' }),
    fresh().call('PUT account/password-reset', { token: 'unknown', new_password: NEW_PASSWORD }),
    browser.call('PUT account/email', { token: 'unknown' }),
    browser.call('PUT account/password', { current_password: 'wrong', new_password: NEW_PASSWORD }),
    browser.call('POST account/passkeys', { name: 'Laptop', passkey }),
    browser.call(`DELETE account/passkeys/${encodeId('passkey', world.app.deps.uuid())}`),
    browser.call(`DELETE account/sessions/${encodeId('session', world.app.deps.uuid())}`),
  ])
  assert.deepEqual(
    refused.map(({ status }) => Math.floor(status / 100)),
    refused.map(() => 4),
  )
  assert.deepEqual(await rowsOf({ browser, ...owner }), had)
})
