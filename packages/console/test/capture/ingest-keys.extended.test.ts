import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { anIngestKey, post } from '../../../server/test/stage/fixtures.ts'
import { eventually } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'

let stage: Stage

before(async () => {
  // The commands of the page sign with the time of this machine.
  if (noBrowser === false) stage = await aStage({ now: Date.now() })
})
after(() => stage?.stop())

const keys = async () => (await stage.world.admin('GET', 'ingest-keys')).body.ingest_keys
/** Runs a command of the page unchanged. */
const run = (command: string, env: Record<string, string> = {}) =>
  promisify(execFile)('sh', ['-c', `${command.replaceAll('\\\n', ' ')} -s`], { env: { ...process.env, ...env } })

test(
  'the page shows a new key once, with a command that works, and never shows it again',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('ingest-keys'))
    await page.getByRole('heading', { name: 'No ingest keys yet' }).waitFor()
    await page.keyboard.press('n')
    await page.getByLabel('Name', { exact: true }).fill('Checkout service')
    await page.getByText('Only selected').click()
    await page.getByLabel('Datasets', { exact: true }).fill('orders, payments')
    await page.getByRole('checkbox', { name: 'Read the stream' }).uncheck()
    await page.getByRole('button', { name: 'Create' }).click()
    const key = await page.getByRole('group', { name: 'Ingest key' }).locator('code').innerText()
    assert.match(key, /^ik_live_/)
    await page.getByRole('button', { name: 'Into a dataset' }).click()
    await page.getByText('Postroad stores the whole payload in the dataset').waitFor()
    const { stdout } = await run(await page.locator('pre').innerText())
    assert.equal(JSON.parse(stdout).dataset, 'orders')

    // The dialog asks once if the person has no copy.
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('alert').getByText('It cannot be shown again').waitFor()
    await page.getByRole('group', { name: 'Ingest key' }).getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'Checkout service', level: 2 }).waitFor()
    assert.ok(!(await page.content()).includes(key), 'the key is on no screen')
    assert.ok(
      !(
        await page.evaluate<string>('JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }])')
      ).includes(key),
      'nor in an address or a store of the browser',
    )
    assert.equal((await page.locator('pre').innerText()).includes('$INGEST_KEY'), true)
    const [made] = await keys()
    assert.deepEqual([made.scopes, made.datasets], [['ingest'], ['orders', 'payments']])
    await seen.close()
  },
)

test(
  'the screen requires a signature, shows its secret once, and shows a command that signs with it',
  { skip: noBrowser },
  async () => {
    const made = await anIngestKey(stage.world, { name: 'Signed' })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('ingest-keys')}?sel=${made.id}&tab=signing`)
    await page.getByRole('button', { name: 'Require a signature' }).click()
    const secret = await page.getByRole('group', { name: 'Signing secret' }).locator('code').innerText()
    assert.equal((await post(`${stage.world.baseUrl}/v1/ingest/${made.key}/orders`, '{}')).status, 401)
    await page.getByRole('button', { name: 'Rotate the secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click()
    const renewed = await page.getByRole('group', { name: 'New signing secret' }).locator('code').innerText()
    await page.getByText('also valid, expires').waitFor()
    assert.notEqual(renewed, secret)
    await page.getByRole('tab', { name: 'Use', exact: true }).click()
    await page.getByRole('button', { name: 'Into a dataset' }).click()
    const command = await page.locator('pre').innerText()
    assert.ok(!command.includes(renewed))
    const { stdout } = await run(command, { INGEST_KEY: made.key, SIGNING_SECRET: renewed })
    assert.equal(JSON.parse(stdout).status, 'accepted')

    // The tab shows the earlier refusal with its remedy.
    await eventually('the server writes the refusal', async () => {
      stage.world.clock.advance(250)
      return (await stage.world.admin('GET', `rejections?ingest_key_id=${made.id}`)).body.rejections[0]
    })
    await page.getByRole('tab', { name: 'Rejected' }).click()
    await page.getByRole('list', { name: 'Rejected' }).getByText('The signature header was missing').waitFor()
    await seen.close()
  },
)

test(
  'a person changes a key, turns it off and on, filters keys, and revokes one; each change applies immediately',
  { skip: noBrowser },
  async () => {
    const made = await anIngestKey(stage.world, { name: 'Batch' })
    const send = async (): Promise<number> =>
      (await post(`${stage.world.baseUrl}/v1/ingest/${made.key}/orders`, '{}')).status
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('ingest-keys')}?q=batch`)
    await page.getByText('1 ingest key', { exact: true }).waitFor()
    await page.getByRole('row').filter({ hasText: 'Batch' }).getByText('never', { exact: true }).waitFor()
    await page.keyboard.press('j')
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('checkbox', { name: 'Send events' }).uncheck()
    await page.getByRole('checkbox', { name: 'Read the stream' }).uncheck()
    await page.getByRole('alert').getByText('Choose at least one: send, read, or both').waitFor()
    await page.getByRole('checkbox', { name: 'Read the stream' }).check()
    await page.getByLabel('IP allowlist').fill('127.0.0.1\n203.0.113.0/24')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next request.').waitFor()
    assert.equal(await send(), 403)
    await page.getByRole('checkbox', { name: 'Send events' }).check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await eventually('the second change is stored', async () =>
      (await keys()).find(({ id }: { id: string }) => id === made.id).scopes.length === 2 ? true : undefined,
    )
    assert.equal(await send(), 201)
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByRole('button', { name: 'Turn on' }).waitFor()
    assert.equal(await send(), 503)
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Revoke…' }).click()
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('heading', { name: 'No ingest key matches' }).waitFor()
    assert.equal(await send(), 404)
    await seen.close()
  },
)

test('a viewer sees the keys and changes none; the screen names the required role', { skip: noBrowser }, async () => {
  const made = await anIngestKey(stage.world, { name: 'Read by all' })
  const seen = await stage.member('viewer', 'dark')
  const { page } = seen
  await page.goto(`${stage.url('ingest-keys')}?sel=${made.id}&tab=settings`)
  await page.getByText('This requires the developer role').waitFor()
  assert.equal(await page.getByLabel('Name', { exact: true }).isDisabled(), true)
  assert.equal(await page.getByRole('button', { name: 'New', exact: true }).isDisabled(), true)
  assert.equal(await page.getByRole('button', { name: 'Turn off' }).isDisabled(), true)
  await seen.close()
})
