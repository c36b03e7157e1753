import assert from 'node:assert/strict'
import {
  ALL,
  ask,
  assertRefused,
  home,
  itemsOf,
  LISTS,
  personally,
  type Heard,
  type Named,
  type Place,
} from '../../stage/admin-asking.ts'
import {
  aConnectedAgentIn,
  aDeletionIn,
  aDeliveredIn,
  aMemberIn,
  anEventIn,
  anotherOwner,
  anAlertIn,
  aRefusalIn,
} from '../../stage/example-resources.ts'
import { anInstanceIn } from '../../stage/example-workflows.ts'
import { example } from '../../stage/route-examples.ts'
import type { Judge } from './judge.ts'

const announce = (): Promise<Heard> => personally(home, 'POST platform/broadcasts', { title: 'x', text: 'x' })

/** The resources that no route creates directly; the others come with an event. */
const MAKERS: Readonly<Record<string, (at: Place) => Promise<unknown>>> = {
  'connectedAgents.list': aConnectedAgentIn,
  'deletions.list': aDeletionIn,
  'deliveries.list': aDeliveredIn,
  'broadcasts.list': announce,
  'members.list': aMemberIn,
  'platformAudit.list': announce,
  'platformSsoRequests.list': (at) => personally(at, 'POST sso/requests', { domains: ['example.com'] }),
  'platformWorkspaces.list': anotherOwner,
  'rejections.list': aRefusalIn,
  'alerts.list': anAlertIn,
  'workflowInstances.list': anInstanceIn,
}

/** Makes one more item of the list. */
async function makeItem(list: Named): Promise<void> {
  const maker = makerOf(list)
  if (maker === undefined) await (MAKERS[list.name] ?? anEventIn)(home)
  else await ask(maker, home, { asked: await example(maker, home) })
}

const makerOf = (list: Named): Named | undefined =>
  ALL.find(({ name }) => name === list.name.replace('.list', '.create'))
const isList = (named: Named): boolean => LISTS.includes(named)

const pages: Judge = {
  promise: 'every list is paged newest first: each item once, also when new items arrive in between',
  about: isList,
  judge: async (list) => {
    for (let count = 0; count < 5; count += 1) await makeItem(list)
    const { query } = await example(list, home)
    const page = (more: Record<string, string>): Promise<Heard> =>
      ask(list, home, { asked: { query: { ...query, ...more } } })
    const whole = itemsOf(await page({ limit: '200' })).map(({ id }) => id)
    assert.ok(whole.length >= 5)
    assert.deepEqual(whole, whole.toSorted().toReversed(), 'newest first')
    const exact = await page({ limit: String(whole.length) })
    assert.equal(exact.body.next_cursor, null, 'there is no page after the last item')
    const paged: string[] = []
    let cursor: string | null = null
    do {
      const next: Heard = await page({ limit: '2', ...(cursor === null ? {} : { cursor }) })
      assert.ok(itemsOf(next).length <= 2)
      paged.push(...itemsOf(next).map(({ id }) => id))
      cursor = next.body.next_cursor
      if (makerOf(list) !== undefined && paged.length === 4) await makeItem(list)
    } while (cursor !== null)
    assert.deepEqual(paged, whole)
  },
}

const bounds: Judge = {
  promise: 'an invalid limit or cursor is refused, and the limits of a page apply',
  about: isList,
  judge: async (list) => {
    const page = (query: Record<string, string>): Promise<Heard> => ask(list, home, { asked: { query } })
    for (const limit of ['0', '-1', '201', '1.5', 'x', '']) assertRefused(await page({ limit }), 400, 'invalid_request')
    for (const cursor of ['x', 'AAAA', '../..', "'"]) assertRefused(await page({ cursor }), 400, 'invalid_request')
    assert.equal((await page({ limit: '1' })).body.next_cursor?.length > 0, true)
  },
}

export const lists: readonly Judge[] = [pages, bounds]
