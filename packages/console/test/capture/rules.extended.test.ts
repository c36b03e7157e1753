import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aDestination, anIngestKey, aRule, post } from '../../../server/test/stage/fixtures.ts'
import { aSink } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'

let stage: Stage
let key: string

before(async () => {
  if (noBrowser !== false) return
  stage = await aStage()
  key = (await anIngestKey(stage.world)).key
})
after(() => stage?.stop())

const send = async (payload: object) =>
  (await post(`${stage.world.baseUrl}/v1/ingest/${key}`, JSON.stringify(payload))).body
const ruleNamed = async (name: string) =>
  (await stage.world.admin('GET', 'rules')).body.rules.find((rule: { name: string }) => rule.name === name)

test(
  'the page tests a new rule with recent events while a person writes it, and the rule files the next event that matches',
  { skip: noBrowser },
  async () => {
    for (const total of [10, 2_000, 3_000]) await send({ type: 'order.created', total })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('rules'))
    await page.getByRole('heading', { name: 'No rules yet' }).waitFor()
    await page.keyboard.press('n')
    await page.getByText('3 of the last 3 events match').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Large orders')
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Path of condition 1').fill('total')
    await page.getByLabel('Comparison of condition 1').selectOption('gt')
    await page.getByLabel('Value of condition 1').fill('1000')
    await page.getByText('2 of the last 3 events match').waitFor()
    await page.getByText('total > 1000, but the value is 10').waitFor()
    await page.getByLabel('Dataset', { exact: true }).fill('large_orders')
    await page.getByRole('button', { name: 'Add a field' }).click()
    await page.getByLabel('Path of field 1').fill('total')
    await page.getByLabel('Target of field 1').fill('amount')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Large orders', level: 2 }).waitFor()
    const made = await ruleNamed('Large orders')
    assert.deepEqual(
      [made.dataset, made.conditions, made.mappings],
      ['large_orders', [{ path: 'total', op: 'gt', value: 1_000 }], [{ target: 'amount', path: 'total' }]],
    )
    assert.deepEqual(
      (await send({ total: 4_000 })).routed.map(({ rule_id }: { rule_id: string }) => rule_id),
      [made.id],
    )
    await seen.close()
  },
)

test(
  'a test of a rule with a custom payload shows the record or the condition that failed; a saved rule applies immediately',
  { skip: noBrowser },
  async () => {
    const rule = await aRule(stage.world, {
      name: 'Refunds',
      dataset: 'refunds',
      conditions: [{ path: 'type', equals: 'refund' }],
    })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('rules')}?sel=${rule.id}`)
    await page.getByText('Custom payload').click()
    await page.getByLabel('Payload', { exact: true }).fill('{"type":"order"')
    await page.getByText('This is not valid JSON.').waitFor()
    await page.getByLabel('Payload', { exact: true }).fill('{"type":"order"}')
    await page.getByText('type is "refund", but the value is "order"').waitFor()
    await page.getByLabel('Value of condition 1').fill('order')
    await page.getByText('The payload matches.').waitFor()
    assert.deepEqual((await send({ type: 'order' })).routed, [], 'nothing changes before it is saved')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next request.').waitFor()
    assert.equal((await send({ type: 'order' })).routed[0].rule, 'Refunds')
    await seen.close()
  },
)

test(
  'the list shows the conditions of each rule in words; a person duplicates a rule, turns it on, and deletes it after a warning',
  { skip: noBrowser },
  async () => {
    await aRule(stage.world, {
      name: 'Europe',
      dataset: 'europe',
      conditions: [
        { path: 'region', op: 'in', value: ['de', 'fr'] },
        { path: 'total', op: 'exists' },
      ],
    })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('rules')}?q=europe`)
    await page.getByRole('row').getByText('when region is one of de, fr and total exists').click()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await page.getByRole('heading', { name: 'Europe (copy)', level: 2 }).waitFor()
    const copy = await ruleNamed('Europe (copy)')
    assert.deepEqual(
      [copy.enabled, copy.dataset, copy.conditions],
      [
        false,
        'europe',
        [
          { path: 'region', op: 'in', value: ['de', 'fr'] },
          { path: 'total', op: 'exists' },
        ],
      ],
    )
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
    assert.deepEqual(
      (await send({ region: 'de', total: 1 })).routed.map(({ rule }: { rule: string }) => rule).toSorted(),
      ['Europe', 'Europe (copy)'],
    )
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByText('Records that the rule wrote to europe are not deleted.').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.waitForURL((url) => !url.search.includes('sel='))
    await page.getByRole('row').filter({ hasText: 'Europe (copy)' }).waitFor({ state: 'detached' })
    assert.deepEqual(
      (await send({ region: 'de', total: 1 })).routed.map(({ rule }: { rule: string }) => rule),
      ['Europe'],
    )
    await seen.close()
  },
)

test(
  'a rule shows the destinations of its records, by the dataset that it files into',
  { skip: noBrowser },
  async (t) => {
    const rule = await aRule(stage.world, {
      name: 'Archive',
      dataset: 'archive',
      conditions: [{ path: 'keep', op: 'exists' }],
    })
    const sink = await aSink()
    t.after(() => sink.stop())
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('rules')}?sel=${rule.id}&tab=goes-to`)
    await page.getByRole('heading', { name: 'No destination receives these records' }).waitFor()
    const { destination } = await aDestination(stage.world, {
      name: 'Vault',
      url: sink.url,
      datasets: ['archive'],
      conditions: [{ path: 'total', op: 'gte', value: 5 }],
    })
    await aDestination(stage.world, { name: 'Elsewhere', url: sink.url, datasets: ['others'] })
    await page.reload()
    const link = page.getByRole('list', { name: 'Destinations' }).getByRole('link')
    await link.getByText('when total ≥ 5').waitFor()
    assert.equal(await link.count(), 1)
    await link.click()
    await page.waitForURL(`**/destinations?sel=${destination.id}`)
    await seen.close()
  },
)

test('a viewer can see and test a rule, but cannot change it', { skip: noBrowser }, async () => {
  const rule = await aRule(stage.world, { name: 'Looked at', conditions: [{ path: 'looked', op: 'exists' }] })
  const seen = await stage.member('viewer', 'dark')
  const { page } = seen
  await page.goto(`${stage.url('rules')}?sel=${rule.id}`)
  await page.getByText('This requires the developer role').waitFor()
  assert.equal(await page.getByLabel('Path of condition 1').isDisabled(), true)
  assert.equal(await page.getByLabel('Dataset', { exact: true }).isDisabled(), true)
  assert.equal(await page.getByRole('button', { name: 'Turn off' }).isDisabled(), true)
  await page.getByText(/of the last \d+ events? match/).waitFor()
  await seen.close()
})
