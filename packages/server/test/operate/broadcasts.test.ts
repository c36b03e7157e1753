import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeId, LIMITS } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { signedIn } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { aKeyOf, ask, aWorkspace, theWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Announcements of the operators, and the log that members read. */
let world: World
let database: Database
let operator: Headers
let home: Member
let away: Member

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    const main = await theWorkspace(database)
    await database.run(sql`update users set email = 'operator@example.com' where id = ${main.userId}`)
    operator = await signedIn(world, main)
    home = await aWorkspace(world, database, 'home')
    away = await aWorkspace(world, database, 'away')
  },
  { env: { ROLES: 'web', OPERATORS: 'operator@example.com' }, loops: [] },
)

const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)
const announce = (body: object): Promise<Answer> =>
  ask(world, 'POST platform/broadcasts', { headers: operator, body: { title: 'Title', text: 'Text', ...body } })
const readBy = async (member: Member): Promise<readonly Answer['body'][]> =>
  (
    await ask(world, 'GET broadcasts', {
      headers: (await aKeyOf(world, database, { ...member, role: 'viewer' })).headers,
    })
  ).body.broadcasts
const titles = async (member: Member): Promise<readonly string[]> => (await readBy(member)).map(({ title }) => title)

describe('an announcement', () => {
  test('an announcement to all workspaces can be read in each of them; one to some workspaces only there', async () => {
    await announce({ title: 'To all' })
    await announce({ title: 'To home', workspace_ids: [encodeId('workspace', home.workspaceId)] })
    assert.deepEqual(await titles(home), ['To home', 'To all'])
    assert.deepEqual(await titles(away), ['To all'])
  })

  test('shows members its text as it was written, but neither its author nor its other readers', async () => {
    const text = '<b>Not bold</b>\nsecond line'
    await announce({
      title: 'Plain',
      text,
      severity: 'critical',
      workspace_ids: [encodeId('workspace', home.workspaceId)],
    })
    const [shown] = await readBy(home)
    assert.deepEqual([shown.title, shown.text, shown.severity, shown.active], ['Plain', text, 'critical', true])
    assert.deepEqual(Object.keys(shown).toSorted(), [
      'active',
      'created_at',
      'ends_at',
      'id',
      'severity',
      'text',
      'title',
    ])
  })

  test('stays in the log after its end, and is no longer active', async () => {
    const ends_at = new Date(world.clock.now() + 60_000).toISOString()
    await announce({ title: 'Ends', ends_at })
    assert.deepEqual((await readBy(away)).map(({ title, active }) => [title, active])[0], ['Ends', true])
    world.clock.advance(60_000)
    const headers = await signedIn(world, away)
    const [ended] = (await ask(world, 'GET broadcasts', { headers })).body.broadcasts
    assert.deepEqual([ended.title, ended.active, ended.ends_at], ['Ends', false, ends_at])
  })

  test('disappears for members when an operator withdraws it, and stays visible to operators', async () => {
    const { broadcast } = (await announce({ title: 'Wrong' })).body
    assert.equal((await titles(home))[0], 'Wrong')
    operator = await signedIn(world, await theWorkspace(database))
    const path = `POST platform/broadcasts/${broadcast.id}/withdraw`
    const withdrawn = (await ask(world, path, { headers: operator })).body.broadcast
    assert.deepEqual([withdrawn.active, typeof withdrawn.withdrawn_at], [false, 'string'])
    assert.deepEqual((await ask(world, path, { headers: operator })).body.broadcast, withdrawn, 'once is enough')
    assert.ok(!(await titles(home)).includes('Wrong'))
    const all = (await ask(world, 'GET platform/broadcasts', { headers: operator })).body.broadcasts
    assert.deepEqual(all[0], withdrawn)
  })

  test('an announcement outside the bounds, or for a workspace that does not exist, is refused', async () => {
    for (const body of [
      { title: '' },
      { title: ' ' },
      { title: 'x'.repeat(LIMITS.broadcastTitleCharsMax + 1) },
      { text: 'x'.repeat(LIMITS.broadcastTextCharsMax + 1) },
      { severity: 'fatal' },
      { ends_at: new Date(world.clock.now()).toISOString() },
      { workspace_ids: [] },
      { workspace_ids: [encodeId('workspace', world.app.deps.uuid())] },
      {
        workspace_ids: Array.from({ length: LIMITS.broadcastWorkspacesMax + 1 }, () =>
          encodeId('workspace', home.workspaceId),
        ),
      },
    ])
      assert.equal(said(await announce(body)), '400 invalid_request', JSON.stringify(body).slice(0, 80))
  })
})
