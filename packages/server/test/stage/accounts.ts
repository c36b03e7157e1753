import assert from 'node:assert/strict'
import { signInLink } from '../../src/resources/operate/installation/index.ts'
import { sql, type Db } from '../../src/platform/db.ts'
import { Browser } from './browser.ts'
import type { World } from './harness.ts'
import { linkIn, type Mailbox } from './mailbox.ts'

export const PASSWORD = 'orchard tiger lamp violet'

let made = 0

export type Person = { readonly userId: string; readonly email: string }

/** A member with a proven address, created directly in the database. */
export async function aPerson(world: World, database: Db, role = 'developer'): Promise<Person> {
  made += 1
  const [userId, email, now] = [world.app.deps.uuid(), `person${made}@example.com`, new Date(world.clock.now())]
  await database.run(
    sql`insert into users (id, name, email, created_at) values (${userId}, ${`Person ${made}`}, ${email}, ${now})`,
  )
  await database.run(
    sql`insert into members (workspace_id, user_id, role, created_at) select id, ${userId}, ${role}, ${now} from workspaces where slug = 'main'`,
  )
  return { userId, email }
}

/** A member who has a password. */
export async function aPersonWithPassword(world: World, database: Db): Promise<Person> {
  const person = await aPerson(world, database)
  const hash = await world.app.deps.passwordHash.hash(PASSWORD)
  await database.run(
    sql`insert into passwords (user_id, hash, changed_at) values (${person.userId}, ${hash}, ${new Date(world.clock.now())})`,
  )
  return person
}

/** The owner's browser, signed in by the link that the server prints. */
export async function anOwner(world: World, browser = new Browser(world.baseUrl)): Promise<Browser> {
  const link = new URL(await signInLink(world.app.deps))
  const answer = await browser.call('POST session', { token: link.hash.slice(3) })
  assert.equal(answer.status, 200, answer.text)
  return browser
}

/** A browser signed in by a mailed link. */
export async function signedIn(world: World, box: Mailbox, person: Person): Promise<Browser> {
  const browser = new Browser(world.baseUrl)
  await browser.call('POST session/links', { email: person.email })
  const answer = await browser.call('POST session', { token: linkIn(await box.next(world)).token })
  assert.equal(answer.status, 200, answer.text)
  return browser
}
