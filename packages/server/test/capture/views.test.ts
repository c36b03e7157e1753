import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aWebhook, behind } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Record views (contract part 2): id, webhook_id, name, columns, sort_key, sort_dir, is_default, created_at,
 * updated_at.
 */
let world: World
let webhook: Answer['body']

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const columns = [{ key: 'a', label: 'A' }]
const viewsOf = (of: { id: string }, path = ''): string => `webhooks/${of.id}/views${path}`
const create = (members: object, of = webhook): Promise<Answer> =>
  world.admin('POST', viewsOf(of), { name: 'view', columns, ...members })

const many = (count: number) => Array.from({ length: count }, (_, at) => ({ key: `k${at}`, label: 'x' }))

const defaults = async (): Promise<string[]> =>
  (await world.admin('GET', viewsOf(webhook))).body.views
    .filter((view: { is_default: boolean }) => view.is_default)
    .map(({ name }: { name: string }) => name)

/** A new endpoint for each test, so that all names are free. */
async function fresh(): Promise<void> {
  webhook = await aWebhook(world)
}

describe('a record view', () => {
  test('a view can be created, listed, read, changed and deleted', async () => {
    await fresh()
    const created = await create({ name: ' Orders ', sort_key: 'a', sort_dir: 'desc', is_default: true })
    assert.equal(created.status, 201)
    const { view } = created.body
    const at = '2026-01-15T12:00:00.000Z'
    assert.match(view.id, /^vie_/)
    assert.deepEqual(view, {
      id: view.id,
      webhook_id: webhook.id,
      name: 'Orders',
      columns,
      sort_key: 'a',
      sort_dir: 'desc',
      is_default: true,
      created_at: at,
      updated_at: at,
    })
    const second = (await create({ name: 'Later' })).body.view
    assert.deepEqual((await world.admin('GET', viewsOf(webhook))).body, { views: [second, view], next_cursor: null })
    assert.deepEqual((await world.admin('GET', viewsOf(webhook, `/${view.id}`))).body, { view })

    world.clock.advance(1_000)
    const changed = await world.admin('PATCH', viewsOf(webhook, `/${view.id}`), { name: 'Bills', sort_key: null })
    assert.deepEqual(changed.body.view, {
      ...view,
      name: 'Bills',
      sort_key: null,
      updated_at: '2026-01-15T12:00:01.000Z',
    })
    assert.deepEqual((await world.admin('GET', viewsOf(webhook, `/${view.id}`))).body, changed.body)

    assert.deepEqual((await world.admin('DELETE', viewsOf(webhook, `/${view.id}`))).body, { ok: true })
    for (const method of ['GET', 'DELETE'])
      assert.equal((await world.admin(method, viewsOf(webhook, `/${view.id}`))).status, 404)
    assert.equal((await world.admin('PATCH', viewsOf(webhook, `/${view.id}`), {})).status, 404)
  })

  test('by default the label is the key, the order is newest first, the direction is asc, and the view is not the default', async () => {
    await fresh()
    const { view } = (await create({ columns: [{ key: 'a.b' }] })).body
    assert.deepEqual(
      [view.columns, view.sort_key, view.sort_dir, view.is_default],
      [[{ key: 'a.b', label: 'a.b' }], null, 'asc', false],
    )
  })

  test('the list has pages', async () => {
    await fresh()
    for (const name of ['one', 'two', 'three']) await create({ name })
    const { body } = await world.admin('GET', viewsOf(webhook, '?limit=2'))
    const rest = await world.admin('GET', viewsOf(webhook, `?limit=2&cursor=${body.next_cursor}`))
    const names = [...body.views, ...rest.body.views].map(({ name }: { name: string }) => name)
    assert.deepEqual([names, rest.body.next_cursor], [['three', 'two', 'one'], null])
  })
})

describe('the rules of a view', () => {
  test('a name is unique among the views of its endpoint, and free in another endpoint', async () => {
    await fresh()
    const other = await aWebhook(world)
    assert.equal((await create({ name: 'x' })).status, 201)
    const { body } = await create({ name: 'y' })
    for (const answer of [
      await create({ name: 'x' }),
      await world.admin('PATCH', viewsOf(webhook, `/${body.view.id}`), { name: 'x' }),
    ]) {
      assert.deepEqual([answer.status, answer.body.reason], [409, 'name_taken'])
    }
    assert.equal((await world.admin('PATCH', viewsOf(webhook, `/${body.view.id}`), { name: 'y' })).status, 200)
    assert.equal((await create({ name: 'x' }, other)).status, 201)
  })

  test('at most one view is the default: the latest request to be the default wins', async () => {
    await fresh()
    const first = (await create({ name: 'first', is_default: true })).body.view
    assert.deepEqual(await defaults(), ['first'])
    await create({ name: 'second', is_default: true })
    assert.deepEqual(await defaults(), ['second'])
    await world.admin('PATCH', viewsOf(webhook, `/${first.id}`), { is_default: true })
    assert.deepEqual(await defaults(), ['first'])
    await world.admin('PATCH', viewsOf(webhook, `/${first.id}`), { is_default: false })
    assert.deepEqual(await defaults(), [])
  })

  test('a refused change leaves the default where it is', async () => {
    await fresh()
    await create({ name: 'first', is_default: true })
    assert.equal((await create({ name: 'first', is_default: true })).status, 409)
    assert.deepEqual(await defaults(), ['first'])
  })

  test('many simultaneous requests leave one default and one view of each name', async () => {
    await fresh()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => create({ name: `n${at % 6}`, is_default: true })),
    )
    assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), [
      ...Array(6).fill('201'),
      ...Array(6).fill('409'),
    ])
    assert.equal((await defaults()).length, 1)
  })

  test('a view has 1 to 100 columns, each key once, with a key of at most 2,048 and a label of 1 to 120 characters', async () => {
    await fresh()
    assert.equal((await create({ name: 'most', columns: many(100) })).status, 201)
    assert.equal(
      (await create({ name: 'long', columns: [{ key: 'k'.repeat(2_048), label: 'l'.repeat(120) }] })).status,
      201,
    )
    const wrong = [
      [],
      many(101),
      [{ key: 'a' }, { key: 'a' }],
      [{ key: 'k'.repeat(2_049) }],
      [{ key: 'a', label: '' }],
      [{ key: 'a', label: 'l'.repeat(121) }],
      [{ key: 'a\0' }],
      [{ key: 'a', other: 1 }],
      [{ label: 'a' }],
      ['a'],
      'a',
    ]
    for (const value of wrong) {
      const { status, body } = await create({ name: 'wrong', columns: value })
      assert.deepEqual([status, body.reason], [400, 'invalid_request'], JSON.stringify(value))
      assert.match(body.error, /^columns/)
    }
  })

  test('a malformed request is refused, and the error names the member', async () => {
    await fresh()
    for (const members of [
      { sort_dir: 'up' },
      { sort_key: 1 },
      { is_default: 'yes' },
      { name: '' },
      { name: 'n'.repeat(121) },
      { webhook_id: 'x' },
    ]) {
      assert.deepEqual([(await create(members)).status], [400], JSON.stringify(members))
    }
    assert.equal((await world.admin('POST', viewsOf(webhook), { name: 'no columns' })).status, 400)
  })
})

describe('the endpoint of a view', () => {
  test('an endpoint that does not exist or belongs to another project has no views; a view answers only under its endpoint', async () => {
    await fresh()
    const { view } = (await create({})).body
    const other = await aWebhook(world)
    const project = (await world.admin('POST', 'projects', { name: 'views elsewhere' })).body.project.id
    for (const path of [
      viewsOf({ id: 'whk_01hzzzzzzzzzzzzzzzzzzzzzzz' }),
      viewsOf({ id: 'x' }),
      `projects/${project}/${viewsOf(webhook)}`,
    ]) {
      assert.equal((await world.admin('GET', path)).status, 404, path)
      assert.equal((await world.admin('POST', path, { name: 'v', columns })).status, 404, path)
    }
    for (const path of [viewsOf(other, `/${view.id}`), `projects/${project}/${viewsOf(webhook, `/${view.id}`)}`]) {
      assert.equal((await world.admin('GET', path)).status, 404)
      assert.equal((await world.admin('PATCH', path, { name: 'taken' })).status, 404)
      assert.equal((await world.admin('DELETE', path)).status, 404)
    }
    assert.equal((await world.admin('GET', viewsOf(webhook, `/${view.id}`))).body.view.name, 'view')
  })

  test('the views of an endpoint are deleted with it', async () => {
    await fresh()
    await create({})
    assert.equal((await world.admin('DELETE', `webhooks/${webhook.id}`)).status, 200)
    const database = behind(world)
    const rows = await database.many({
      strings: [`select v.id from record_views v left join webhooks w on w.id = v.webhook_id where w.id is null`],
      values: [],
    })
    await database.close()
    assert.equal(rows.length, 0)
  })

  test('every change writes an audit row', async () => {
    await fresh()
    const { view } = (await create({ name: 'audited' })).body
    await world.admin('PATCH', viewsOf(webhook, `/${view.id}`), { sort_dir: 'desc' })
    await world.admin('DELETE', viewsOf(webhook, `/${view.id}`))
    const database = behind(world)
    const rows = await database.many<{ action: string; details: string }>({
      strings: [`select action, details from audit_rows where target = '${view.id}' order by id`],
      values: [],
    })
    await database.close()
    assert.deepEqual(
      rows.map(({ action, details }) => {
        const { before: was, after: is, ...others } = JSON.parse(details)
        return [action, was?.sort_dir, is?.sort_dir, others]
      }),
      [
        ['create_record_view', undefined, 'asc', { webhook: webhook.id, name: 'audited' }],
        ['update_record_view', 'asc', 'desc', { changed: ['sort_dir'] }],
        ['delete_record_view', 'desc', undefined, {}],
      ],
    )
  })
})
