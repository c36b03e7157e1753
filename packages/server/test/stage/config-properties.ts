import assert from 'node:assert/strict'
import { decodeId, encodeId } from '@postroad/contract'
import type { Database } from '../../src/platform/db.ts'
import type { World } from './harness.ts'
import {
  aPlace,
  make,
  randomEvents,
  randomProjects,
  routedIn,
  sendAll,
  type Place,
  type Routed,
} from './random-projects.ts'

/** The two promises of a configuration about routing, for random projects. Each function returns how many events it compared. */

type On = { readonly world: World; readonly database: Database }
type Of = { readonly projects: number; readonly events: number; readonly seed: number }

async function planned(place: Place, config: object, more: object = {}) {
  const { status, body } = await place.admin('POST', 'config/plan', { config, ...more })
  assert.equal(status, 200, JSON.stringify(body))
  return body.plan
}

async function apply(place: Place, config: object, more: object = {}): Promise<void> {
  const { id } = await planned(place, config, { recent: 0, ...more })
  const answer = await place.admin('POST', 'config/apply', { config, plan: id, ...more })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

const exported = async (place: Place): Promise<object> => (await place.admin('GET', 'config/export')).body
const uuid = ({ id }: Place): string => decodeId('project', id) ?? ''
const withoutId = ({ records, deliveries, starts }: Routed) => ({ records, deliveries, starts })

/** Export → empty project → apply: every event is routed as before. */
export async function routesEqually({ world, database }: On, { projects, events, seed }: Of): Promise<number> {
  let compared = 0
  for (const [at, project] of randomProjects(projects, seed).entries()) {
    const [source, target] = [await aPlace(world), await aPlace(world)]
    await make(source, project)
    const config = await exported(source)
    assert.equal((await planned(source, config)).empty, true, 'the plan of an unchanged project')
    await apply(target, config)
    assert.equal((await planned(target, config)).empty, true, 'the plan of an applied configuration')
    const all = randomEvents(events, seed + at)
    const statuses = [await sendAll(source, all), await sendAll(target, all)]
    assert.deepEqual(statuses[0], statuses[1])
    const [here, there] = [
      await routedIn(database, { projectId: uuid(source) }),
      await routedIn(database, { projectId: uuid(target) }),
    ]
    assert.equal(here.size, statuses[0]?.filter((status) => status === 201).length)
    assert.equal(there.size, here.size)
    for (const [n, routed] of here) {
      const other = there.get(n)
      assert.ok(other !== undefined)
      assert.deepEqual(withoutId(other), withoutId(routed), JSON.stringify(all[n]))
    }
    compared += all.length
  }
  return compared
}

/** The payloads that a plan reports as routed differently are those that the road routes differently after the apply. */
export async function predictsRouting({ world, database }: On, { projects, events, seed }: Of): Promise<number> {
  let different = 0
  const all = randomProjects(2 * projects, seed)
  for (let at = 0; at < projects; at += 1) {
    const [before, after] = [all[2 * at], all[2 * at + 1]]
    assert.ok(before !== undefined && after !== undefined)
    const place = await aPlace(world)
    await make(place, before)
    const sent = randomEvents(events, seed + at)
    await sendAll(place, sent)
    const was = await routedIn(database, { projectId: uuid(place) })
    // No event in `was` was refused, so an event that is refused from now on counts as changed.
    const config = { version: 1, ...after }
    const { routing } = await planned(place, config, { delete_missing: true, recent: events })
    await apply(place, config, { delete_missing: true })
    const last =
      [...was.values()]
        .map(({ id }) => id)
        .toSorted()
        .at(-1) ?? ''
    await sendAll(place, sent)
    const is = await routedIn(database, { projectId: uuid(place), after: last })
    const changed = [...was].filter(([n, routed]) => {
      const now = is.get(n)
      return now === undefined || JSON.stringify(withoutId(now)) !== JSON.stringify(withoutId(routed))
    })
    assert.equal(routing.compared, was.size)
    assert.equal(routing.different, changed.length)
    const reported = routing.payloads.map((one: { submission_id: string }) => one.submission_id)
    const ids = changed.map(([, { id }]) => encodeId('submission', id)).toSorted()
    if (changed.length <= 50) assert.deepEqual(reported.toSorted(), ids)
    different += changed.length
  }
  return different
}
