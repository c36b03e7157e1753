import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../../server/src/platform/db.ts'
import { aPersonWithPassword, PASSWORD } from '../../../server/test/stage/accounts.ts'
import { EASY, registered } from '../../../server/test/stage/agent-registrations.ts'
import { behind } from '../../../server/test/stage/fixtures.ts'
import { ask } from '../../../server/test/stage/people.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'

let stage: Stage
let database: Database

before(async () => {
  if (noBrowser !== false) return
  stage = await aStage({ env: { ...EASY } })
  database = behind(stage.world)
})
after(async () => {
  await database?.close()
  await stage?.stop()
})

test(
  'a person opens the claim URL of an agent, signs in, claims the account, and owns its workspace; the URL works once',
  { skip: noBrowser },
  async () => {
    const { world } = stage
    const { claim, workspace, key } = await registered(world)
    const { email } = await aPersonWithPassword(world, database)
    const seen = await stage.stranger('dark')
    const { page } = seen
    await page.goto(claim.url)
    await page.getByRole('heading', { name: 'Claim an agent’s workspace' }).waitFor()
    assert.equal(new URL(page.url()).hash, '', 'the token leaves the address bar, so no history stores it')
    await page.getByRole('button', { name: 'Claim the workspace' }).click()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Claim an agent’s workspace' }).waitFor()
    await page.getByRole('button', { name: 'Claim the workspace' }).click()
    await page.waitForURL((url) => url.pathname.startsWith(`/${workspace.slug}/`))

    // The agent's key still works, with the admin role, and the list of members has both.
    await page.goto(`${world.baseUrl}/${workspace.slug}/default/members`)
    const list = page.getByRole('grid', { name: 'Members' })
    await list.getByRole('row').filter({ hasText: '(you)' }).getByText('owner', { exact: true }).waitFor()
    await list.getByRole('row').filter({ hasText: 'Deploy bot' }).getByText('admin', { exact: true }).waitFor()
    assert.equal((await ask(world, 'GET projects', { headers: { authorization: `Bearer ${key}` } })).status, 200)

    await page.goto(claim.url)
    await page.getByRole('button', { name: 'Claim the workspace' }).click()
    await page.locator('#said.wrong').waitFor()
    await seen.close()
  },
)
