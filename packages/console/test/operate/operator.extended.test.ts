import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, aWorkspace } from '../../../server/test/stage/people.ts'
import { noBrowser } from '../stage/browser.ts'
import { onSettings, type Settings } from '../stage/settings.ts'

let made: Settings

onSettings((settings) => {
  made = settings
})

const answer = async (line: string) => (await ask(made.stage.world, line, { headers: made.headers })).body

const acme = async () => (await answer('GET platform/workspaces?q=acme')).workspaces[0]

test(
  'an operator finds a workspace, suspends it with a reason, reinstates it, and changes its plan',
  { skip: noBrowser },
  async () => {
    const { stage, database } = made
    await aWorkspace(stage.world, database, 'acme-shop')
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('operator'))
    await page.getByRole('grid', { name: 'Workspaces' }).getByText('acme-shop').first().waitFor()
    await page.getByLabel('Search workspaces').fill('acme')
    await page.getByText('1 workspace', { exact: true }).waitFor()
    await page.getByRole('row').nth(1).click()
    await page.getByRole('button', { name: 'Suspend…' }).click()
    const suspend = page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true })
    await suspend.waitFor()
    assert.equal(await suspend.isDisabled(), true)
    await page.getByLabel('Reason').fill('Unpaid since May')
    await suspend.click()
    const panel = page.getByRole('region', { name: 'Workspace', exact: true })
    await panel.getByText('Unpaid since May').waitFor()
    assert.deepEqual([(await acme()).state, (await acme()).suspended_reason], ['suspended', 'Unpaid since May'])
    await panel.getByRole('button', { name: 'Reinstate…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Reinstate' }).click()
    await page.getByText('acme-shop is active again.').waitFor()
    assert.equal((await acme()).state, 'active')
    await panel.getByRole('combobox', { name: 'Plan' }).selectOption('free')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from now on, within a second.').waitFor()
    assert.equal((await acme()).plan, 'free')
    await seen.close()
  },
)

test(
  'an operator announces something and withdraws it, and the log of the installation has both',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('operator')}?area=announcements`)
    await page.getByRole('heading', { name: 'No announcements yet' }).waitFor()
    await page.getByRole('button', { name: 'New announcement' }).first().click()
    await page.getByLabel('Title').fill('Slow deliveries')
    await page.getByLabel('Text').fill('We are looking into it.')
    await page.getByRole('dialog').getByText('Critical', { exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Announce', exact: true }).click()
    const list = page.getByRole('group', { name: 'Announcements' }).getByRole('list')
    await list.getByText('Slow deliveries').waitFor()
    await page.getByRole('region', { name: 'Announcement', exact: true }).getByText('Slow deliveries').waitFor()
    await list.getByRole('button', { name: 'Withdraw Slow deliveries' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click()
    await list.getByText('withdrawn', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Announcement', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('group', { name: 'Area' }).getByRole('button', { name: 'Log' }).click()
    await page.getByRole('list', { name: 'Log' }).getByText('withdrew the announcement').waitFor()
    await page.getByRole('list', { name: 'Log' }).getByText('Olga Owner (you)').first().waitFor()
    await seen.close()
  },
)

test(
  'an owner requests single sign-on and cancels it; an operator declines the next request with a reason',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    const seen = await stage.owner()
    const { page } = seen
    const request = async (domain: string): Promise<void> => {
      await page.getByRole('button', { name: 'Request SSO' }).first().click()
      await page.getByLabel('Email domains').fill(domain)
      await page.getByRole('dialog').getByRole('button', { name: 'Request SSO' }).click()
      await page.getByRole('list', { name: 'Requests' }).getByText(domain).waitFor()
    }
    await page.goto(stage.url('sso'))
    await page.getByText('Nobody has requested single sign-on yet.').waitFor()
    await request('example.com')
    await page.getByRole('button', { name: 'Cancel request' }).click()
    await page.getByRole('button', { name: 'Cancel request' }).click()
    await page.getByText('canceled', { exact: true }).waitFor()
    await request('northwind.example')
    await page.goto(`${stage.url('operator')}?area=sso`)
    await page.getByRole('button', { name: /^Decline / }).click()
    await page.getByLabel('Reason').fill('Not on this plan.')
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click()
    await page.getByText('Not on this plan.').last().waitFor()
    const [newest] = (await answer('GET sso/requests')).requests
    assert.deepEqual([newest.status, newest.reason], ['declined', 'Not on this plan.'])
    await seen.close()
  },
)

test(
  'the settings of the installation apply when they are saved, and its health names every loop',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('operator')}?area=settings`)
    await page.getByLabel('Registrations per day').fill('many')
    await page.getByRole('alert').getByText('a whole number').waitFor()
    await page.getByLabel('Registrations per day').fill('25')
    await page.getByLabel('Support contact').fill('help@example.com')
    await page.getByRole('checkbox', { name: 'Allow agents to register' }).uncheck()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next request, on every node.').waitFor()
    const { settings } = await answer('GET platform/settings')
    assert.deepEqual(
      [settings.support_contact, settings.agent_registration, settings.agent_registrations_per_day],
      ['help@example.com', false, 25],
    )
    await page.getByRole('group', { name: 'Area' }).getByRole('button', { name: 'Health' }).click()
    const { loops } = (await answer('GET platform/health')).health
    const list = page.getByRole('list', { name: 'Background jobs' }).getByRole('listitem')
    await list.first().waitFor()
    assert.equal(await list.count(), loops.length)
    const tasks = page.getByRole('list', { name: 'Upkeep' }).getByRole('listitem')
    await tasks.getByText('sessions.prune').waitFor()
    await seen.close()
  },
)

test(
  'without a mail server an operator reads an email of the outbox, to hand it over',
  { skip: noBrowser },
  async () => {
    const { stage, headers } = made
    const { world } = stage
    await ask(world, 'POST invites', { headers, body: { email: 'grace@example.com', role: 'developer' } })
    await world.run('mail.send')
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('operator')}?area=health`)
    await page.getByRole('button', { name: /^Read “You are invited to .* for grace@example.com$/ }).click()
    const { mails } = (await answer('GET platform/health')).health
    const letter = page.getByRole('dialog', { name: mails.outbox[0].subject })
    const link = await letter.getByRole('group', { name: 'Link' }).getByRole('code').textContent()
    assert.equal(new URL(link ?? '').pathname, '/invites/accept')
    await letter.getByRole('button', { name: 'Done' }).click()
    const { audit } = await answer('GET platform/audit')
    assert.deepEqual([audit[0].action, audit[0].target], ['read_mail', mails.outbox[0].id])
    await seen.close()
  },
)

test('a person who is not an operator reads who is, and cannot open their screen', { skip: noBrowser }, async () => {
  const { stage } = made
  const seen = await stage.member('owner')
  const { page } = seen
  await page.goto(stage.url('operator'))
  await page.getByRole('heading', { name: 'For installation operators only' }).waitFor()
  assert.equal(
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Operators' }).count(),
    0,
  )
  await seen.close()
})
