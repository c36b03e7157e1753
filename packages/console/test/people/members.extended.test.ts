import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../server/src/platform/db.ts'
import { aMember, ask } from '../../../server/test/stage/people.ts'
import { noBrowser } from '../stage/browser.ts'
import { onSettings, suspend, type Settings } from '../stage/settings.ts'

let made: Settings

onSettings((settings) => {
  made = settings
})

const people = async (path: string) => (await ask(made.stage.world, `GET ${path}`, { headers: made.headers })).body

test(
  'an admin invites a person, sends the invite again, and revokes it; the list shows each state',
  { skip: noBrowser },
  async () => {
    const seen = await made.stage.owner()
    const { page } = seen
    await page.goto(made.stage.url('members'))
    await page.getByRole('grid', { name: 'Members' }).getByText('Olga Owner (you)').waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByRole('radio', { name: /^admin/ }).check()
    await page.getByRole('button', { name: 'Invite', exact: true }).last().click()
    // The server of the test has no mail server.
    const given = page.getByRole('dialog', { name: 'ada@example.com is invited' })
    await given.getByRole('img', { name: 'QR code of the link for ada@example.com' }).waitFor()
    const link = await given.getByRole('group', { name: 'Link' }).getByRole('code').textContent()
    await given.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('region', { name: 'Invite' }).getByText('invited', { exact: true }).waitFor()
    assert.deepEqual(
      (await people('invites')).invites.map((one: { email: string; role: string }) => [one.email, one.role]),
      [['ada@example.com', 'admin']],
    )
    await page.getByRole('button', { name: 'New link' }).click()
    const renewed = page.getByRole('dialog', { name: 'A new link for ada@example.com' })
    assert.notEqual(await renewed.getByRole('group', { name: 'Link' }).getByRole('code').textContent(), link)
    await renewed.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('grid', { name: 'Members' }).getByText('ada@example.com').waitFor({ state: 'detached' })
    assert.deepEqual((await people('invites')).invites, [])
    await seen.close()
  },
)

test(
  'an owner changes a role, removes a member, and transfers the ownership after typing the name of the workspace',
  { skip: noBrowser },
  async () => {
    const { stage, database, home } = made
    const name = async (userId: string, text: string): Promise<number> =>
      database.run(sql`update users set name = ${text} where id = ${userId}`)
    const devon = await aMember(stage.world, database, { workspaceId: home.workspaceId, role: 'developer' })
    await name(devon.userId, 'Devon Developer')
    const rita = await aMember(stage.world, database, { workspaceId: home.workspaceId, role: 'viewer' })
    await name(rita.userId, 'Rita Reader')
    const roleOf = async (who: string): Promise<string | undefined> =>
      (await people('members')).members.find((one: { name: string }) => one.name === who)?.role
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('members')}?q=devon`)
    await page.getByText('1 person', { exact: true }).waitFor()
    await page.keyboard.press('j')
    await page.getByRole('radio', { name: /^admin/ }).check()
    // A click beside the edit does not discard it.
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next request.').waitFor()
    assert.equal(await roleOf('Devon Developer'), 'admin')
    await page.getByRole('button', { name: 'Close' }).click()

    await page.goto(`${stage.url('members')}?q=rita`)
    await page.getByText('1 person', { exact: true }).waitFor()
    await page.keyboard.press('j')
    await page.getByRole('button', { name: 'Remove…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { name: 'No person matches' }).waitFor()
    assert.equal(await roleOf('Rita Reader'), undefined)

    await page.goto(`${stage.url('members')}?q=devon`)
    await page.getByText('1 person', { exact: true }).waitFor()
    await page.keyboard.press('j')
    await page.getByRole('button', { name: 'Transfer…' }).click()
    const transfer = page.getByRole('button', { name: 'Transfer ownership' })
    await transfer.waitFor()
    assert.equal(await transfer.isDisabled(), true)
    const workspace = (await people('workspace')).workspace.name
    await page.getByLabel(`Type the workspace name: ${workspace}`).fill(workspace)
    await transfer.click()
    await page.getByText('Devon Developer is the owner now. You are an admin.').waitFor()
    await page.getByText('This requires the owner role').first().waitFor()
    assert.equal(await roleOf('Devon Developer'), 'owner')
    // The other tests need the owner back.
    await database.run(sql`update members set role = 'owner' where user_id = ${home.userId}`)
    await database.run(sql`delete from members where user_id = ${devon.userId}`)
    await seen.close()
  },
)

test(
  'a person leaves their last workspace and creates another one, and a viewer reads which role opens the members',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    const viewer = await stage.member('viewer', 'dark')
    await viewer.page.goto(stage.url('members'))
    await viewer.page
      .getByRole('alert')
      .getByText(/This requires the admin role/)
      .waitFor()
    await viewer.close()

    const before = (await people('members')).members.length
    const seen = await stage.member('admin')
    const { page } = seen
    await page.goto(`${stage.url('members')}?q=somebody`)
    await page.getByText('(you)').click()
    await page.getByRole('radio', { name: /^owner/ }).waitFor()
    assert.equal(await page.getByRole('radio', { name: /^owner/ }).isDisabled(), true)
    await page.getByRole('button', { name: 'Leave…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'You are not a member of any workspace' }).waitFor()
    await page.getByRole('button', { name: 'Sign in with another account' }).waitFor()
    assert.equal((await people('members')).members.length, before)
    await page.getByLabel('Workspace name').fill('Fresh start')
    await page.getByRole('button', { name: 'Create workspace' }).click()
    await page.waitForURL('**/fresh-start/default/events')
    await page.getByRole('complementary', { name: 'Workspace' }).getByText('Fresh start').waitFor()
    await seen.close()
  },
)

test(
  'every screen of a suspended workspace gives the reason, what is paused and what works, and buttons give the reason too',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    const deliveries = async () => (await stage.world.admin('GET', 'dashboard/summary')).body.summary.backlog
    await suspend(made, 'The invoice of May is unpaid')
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('members'))
    const banner = page.getByRole('status').filter({ hasText: 'This workspace is suspended.' })
    await banner.getByText('Reason: The invoice of May is unpaid').waitFor()
    await banner.locator('summary').click()
    await banner.getByText('Revoking API keys and invites, removing members, and leaving').waitFor()
    const { pending, retrying, paused } = await deliveries()
    await banner
      .getByText(new RegExp(`^${pending + retrying + paused} deliver(y|ies) waits? in the workspace`))
      .waitFor()
    const invite = page.getByRole('button', { name: 'Invite N' })
    assert.equal(await invite.isDisabled(), true)
    assert.equal(await invite.getAttribute('title'), 'This workspace is suspended, so this cannot be changed.')
    await page.goto(stage.url('destinations'))
    const create = page.getByRole('button', { name: /^New destination/ }).first()
    await create.waitFor()
    assert.equal(await create.getAttribute('title'), 'This workspace is suspended, so this cannot be changed.')
    await suspend(made)
    await seen.close()
  },
)

test(
  'an announcement is above every screen until the person dismisses it, and stays in the list',
  { skip: noBrowser },
  async () => {
    const { stage, headers } = made
    const body = {
      title: 'Maintenance on Sunday',
      text: 'From 02:00 until 02:30 UTC.\nEvents are stored.',
      severity: 'warning',
    }
    assert.equal((await ask(stage.world, 'POST platform/broadcasts', { headers, body })).status, 201)
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('deliveries'))
    const strip = page.getByRole('region', { name: 'Announcement', exact: true })
    await strip.getByText('Maintenance on Sunday').waitFor()
    await strip.getByRole('button', { name: 'Read it' }).click()
    await strip.getByText('Events are stored.').waitFor()
    await strip.getByRole('button', { name: 'Put away: Maintenance on Sunday' }).click()
    await strip.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: 'Deliveries', level: 1 }).waitFor()
    await page.goto(stage.url('announcements'))
    await page.getByRole('list', { name: 'Announcements' }).getByText('Maintenance on Sunday').waitFor()
    await page.getByText('1 announcement', { exact: true }).waitFor()
    assert.equal(await strip.count(), 0)
    await seen.close()
  },
)

test(
  'the page offers an admin who takes a lower role only what that role allows, without a reload',
  { skip: noBrowser },
  async () => {
    const seen = await made.stage.member('admin')
    const { page } = seen
    await page.goto(made.stage.url('members'))
    await page.getByRole('row').filter({ hasText: '(you)' }).click()
    const invite = page.getByRole('button', { name: /^(?:New|Invite)/ }).first()
    await invite.and(page.locator(':enabled')).waitFor()
    await page.getByRole('radio', { name: /^developer/ }).check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next request.').waitFor()
    await invite.and(page.locator(':disabled')).waitFor()
    await seen.close()
  },
)
