import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../../server/test/stage/harness.ts'
import { ask } from '../../../server/test/stage/people.ts'
import { noBrowser } from '../stage/browser.ts'
import { onSettings, type Settings } from '../stage/settings.ts'

let made: Settings

onSettings((settings) => {
  made = settings
})

const answer = async (line: string) => (await ask(made.stage.world, line, { headers: made.headers })).body

test(
  'an owner renames the workspace; unsaved edits are not lost, and every part of the page shows the new name',
  { skip: noBrowser },
  async () => {
    const seen = await made.stage.owner()
    const { page } = seen
    await page.goto(made.stage.url('workspace'))
    await page.getByRole('list', { name: 'Your workspaces' }).getByText('Current').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Northwind')
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Members' }).click()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from now on.').waitFor()
    await page.getByRole('complementary', { name: 'Workspace' }).getByText('Northwind').waitFor()
    assert.equal((await answer('GET workspace')).workspace.name, 'Northwind')
    await seen.close()
  },
)

test('a person creates a workspace, works in it, and switches back', { skip: noBrowser }, async () => {
  const { stage } = made
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('workspace'))
  await page.getByRole('button', { name: 'New workspace' }).click()
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Second place')
  await page.getByLabel('Slug').fill('second-place')
  await page.getByRole('button', { name: 'Create and open' }).click()
  await page.waitForURL((url) => url.pathname.startsWith('/second-place/'))
  await page.goto(`${stage.world.baseUrl}/second-place/default/workspace`)
  await page.getByRole('button', { name: /^Switch to / }).click()
  await page.waitForURL((url) => url.pathname.startsWith(`/${stage.world.installed.workspace.slug}/`))
  await seen.close()
})

test(
  'an owner closes the workspace after typing its slug, reads the end of its grace, and reopens it',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    const { slug } = stage.world.installed.workspace
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('workspace'))
    await page.getByRole('button', { name: 'Close…' }).click()
    const close = page.getByRole('button', { name: 'Close workspace' })
    await close.waitFor()
    assert.equal(await close.isDisabled(), true)
    await page.getByLabel('Type the workspace slug').fill(slug)
    await close.click()
    const banner = page.getByRole('status').filter({ hasText: 'This workspace is closed.' })
    await banner.getByText(/Postroad deletes it after \w+ \d+, \d{4}/).waitFor()
    assert.notEqual((await answer('GET workspace')).workspace.closed_at, null)
    assert.equal(await page.getByLabel('Name', { exact: true }).isDisabled(), true)
    await page
      .getByText('This workspace is closed, so this cannot be changed. An owner can reopen it.')
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Reopen' }).click()
    await page.getByText('The workspace is open again.').waitFor()
    await banner.waitFor({ state: 'detached' })
    assert.equal((await answer('GET workspace')).workspace.closed_at, null)
    await seen.close()
  },
)

const names = async (): Promise<readonly string[]> =>
  (await answer('GET projects')).projects.map(({ name }: { name: string }) => name)

test('an admin creates, renames and deletes a project; the Default project stays', { skip: noBrowser }, async () => {
  const { stage } = made
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('projects'))
  await page.getByRole('grid', { name: 'Projects' }).getByRole('row').nth(1).waitFor()
  await page.keyboard.press('n')
  await page.getByLabel('Name', { exact: true }).fill('Staging')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('heading', { name: 'Staging', level: 2 }).waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Staging of May')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('heading', { name: 'Staging of May', level: 2 }).waitFor()
  assert.ok((await names()).includes('Staging of May'))
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('1 project', { exact: true }).waitFor()
  assert.ok(!(await names()).includes('Staging of May'))
  await page.getByRole('row').nth(1).click()
  await page.getByText('You cannot delete the Default project.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Delete…' }).isDisabled(), true)
  await seen.close()
})

test('the screen shows the progress of an export, downloads it, and deletes it', { skip: noBrowser }, async () => {
  const { stage } = made
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('data-export'))
  await page.getByRole('heading', { name: 'No exports yet' }).waitFor()
  await page.getByRole('button', { name: 'Export everything' }).click()
  const line = page.getByRole('list', { name: 'Data exports' }).getByRole('listitem')
  await line.getByText('by Olga Owner').waitFor()
  await eventually('the export is ready', async () => {
    stage.world.clock.advance(500)
    return (await answer('GET data-export')).data_exports[0]?.state === 'ready' ? true : undefined
  })
  const link = line.getByRole('link', { name: 'Download' })
  await link.waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), link.click()])
  const chunks: Buffer[] = []
  for await (const chunk of await download.createReadStream()) chunks.push(Buffer.from(chunk))
  const zip = Buffer.concat(chunks)
  assert.equal(zip.subarray(0, 2).toString(), 'PK')
  assert.equal(zip.length, (await answer('GET data-export')).data_exports[0].file.bytes)
  await line.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await link.waitFor({ state: 'detached' })
  const { data_exports } = await answer('GET data-export')
  assert.ok(data_exports.every(({ state }: { state: string }) => state !== 'ready'))
  await seen.close()
})

test(
  'the list of allowed addresses shows the address of the person, and the server refuses a list without that address',
  { skip: noBrowser },
  async () => {
    const { stage } = made
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('network'))
    await page.getByRole('heading', { name: 'Any address can access the workspace' }).waitFor()
    await page.getByLabel('Allowed addresses', { exact: true }).fill('203.0.113.0/24')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').getByText('so it would lock you out').waitFor()
    await page.getByRole('button', { name: 'Add my address' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Restricted' }).waitFor()
    assert.deepEqual((await answer('GET settings/network')).network.ip_allowlist, ['203.0.113.0/24', '127.0.0.1'])
    await page.getByLabel('Allowed addresses', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Any address can access the workspace' }).waitFor()
    await seen.close()
  },
)
