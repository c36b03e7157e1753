import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aRule } from '../../../server/test/stage/fixtures.ts'
import { sql } from '../../../server/src/platform/db.ts'
import { ask } from '../../../server/test/stage/people.ts'
import { noBrowser } from '../stage/browser.ts'
import { onSettings, type Settings } from '../stage/settings.ts'

let made: Settings

onSettings((settings) => {
  made = settings
})

test(
  'a change is a sentence with its values before and after; its parts filter the list, and the filter is in the address',
  { skip: noBrowser },
  async () => {
    const { stage, headers } = made
    const rule = await aRule(stage.world, { name: 'Refunds', dataset: 'refunds' })
    const change = { name: 'Refunds of May', dataset: 'refunds_may' }
    assert.equal((await ask(stage.world, `PATCH rules/${rule.id}`, { headers, body: change })).status, 200)
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('audit'))
    const list = page.getByRole('grid', { name: 'Audit log' })
    await list
      .getByRole('row')
      .filter({ hasText: 'Olga Owner changed the rule Refunds of May: name Refunds → Refunds of May and 1 more' })
      .click()
    const panel = page.getByRole('region', { name: 'Change' })
    const differences = panel.getByRole('table').getByRole('row')
    assert.deepEqual(
      (await differences.allInnerTexts()).map((text) => text.split(/\s*\t\s*/)),
      [
        ['Member', 'Before', 'After'],
        ['name', 'Refunds', 'Refunds of May'],
        ['dataset', 'refunds', 'refunds_may'],
      ],
    )
    await panel.getByRole('button', { name: rule.id }).click()
    await page.waitForURL((url) => url.searchParams.get('target') === rule.id)
    await page.getByText('2 entries', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Action' }).selectOption('create_rule')
    await page.getByText('1 entry', { exact: true }).waitFor()
    await list.getByText('with the API key', { exact: false }).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ])
    const stream = await download.createReadStream()
    const rows: Buffer[] = []
    for await (const chunk of stream) rows.push(Buffer.from(chunk))
    const csv = Buffer.concat(rows).toString().trimEnd().split('\r\n')
    assert.equal(csv.length, 2)
    assert.ok(csv[1]?.includes(rule.id), csv[1])
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.waitForURL((url) => url.search === '')
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Copy as an MCP call' }).click()
    assert.equal(JSON.parse(await seen.copied()).params.name, 'audit_list')
    await seen.close()
  },
)

test('Verify proves the whole log, and names the first row that someone changed', { skip: noBrowser }, async () => {
  const { stage, database, headers } = made
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('audit'))
  await page.getByRole('button', { name: 'Verify' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Recorded hash').fill('abc')
  await dialog.getByText('A hash has 64 hexadecimal digits.').waitFor()
  await dialog.getByLabel('Recorded hash').fill('')
  await dialog.getByRole('button', { name: 'Verify' }).click()
  await dialog.getByText('The log is intact.').waitFor()
  const { newest } = (await ask(stage.world, 'GET audit/verify', { headers })).body
  await dialog.getByText(newest.hash).waitFor()

  await database.run(sql`update audit_rows set action = 'create_nothing' where action = 'create_rule'`)
  await dialog.getByRole('button', { name: 'Verify' }).click()
  await dialog.getByText('The log is not intact.').waitFor()
  await database.run(sql`update audit_rows set action = 'create_rule' where action = 'create_nothing'`)
  await seen.close()
})

test('only admins can open the log; any other role reads which role can', { skip: noBrowser }, async () => {
  const seen = await made.stage.member('developer')
  await seen.page.goto(made.stage.url('audit'))
  await seen.page
    .getByRole('alert')
    .getByText(/This requires the admin role/)
    .waitFor()
  const item = seen.page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Audit log' })
  assert.match((await item.getAttribute('title')) ?? '', /This requires the admin role/)
  await seen.close()
})
