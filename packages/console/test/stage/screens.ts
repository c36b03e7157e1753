import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { inEighth } from '../../../server/test/stage/eighths.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Seen, type Stage } from './browser.ts'
import { openPlace, type Place } from './place.ts'
import { aScene } from './scene.ts'
import { OPERATOR } from './settings.ts'
import { outside } from './widths.ts'

type Made<Of> = { readonly scene: Of; stop(): Promise<void> }
type Make<M> = (stage: Stage) => Promise<M>

/** Starts a stage and makes its scene before the tests of a file; `prepare` gets both. */
function onScene<M extends Made<unknown>>(make: Make<M>, prepare: (stage: Stage, made: M) => void): void {
  const now: { stage?: Stage; made?: M } = {}
  before(async () => {
    if (noBrowser !== false) return
    now.stage = await aStage({ env: { OPERATORS: OPERATOR } })
    now.made = await make(now.stage)
    prepare(now.stage, now.made)
  })
  after(async () => {
    await now.stage?.stop()
    await now.made?.stop()
  })
}

type Prepared = { readonly stage: Stage; readonly bad: Sink; readonly recordId: string }

/** All tests of a file look at this scene: an event that one destination took, one refused, and one did not want. */
export function onScreens(prepare: (made: Prepared) => void): void {
  onScene(aScene, (stage, { bad, scene }) => prepare({ stage, bad, recordId: scene.event.id }))
}

type Walk<Of> = {
  readonly places: readonly Place<Of>[]
  readonly scene: Make<Made<Of>>
  /** Looks at a state of a place. */
  readonly look: (seen: Seen, where: string) => Promise<void>
}

/** Opens each place of a list, in its order, and looks at each of its states. */
export function testWalk<Of>({ places, scene: make, look }: Walk<Of>): void {
  let stage: Stage
  let scene: Of
  onScene(make, (on, made) => {
    stage = on
    ;({ scene } = made)
  })
  describe('each place is accessible, and the policy refuses nothing', { skip: noBrowser }, () => {
    for (const place of inEighth(places))
      test(place.name, async () => {
        const seen = place.as === undefined ? await stage.owner() : await stage.member(place.as)
        await openPlace({ seen, stage, scene }, place, (state) => look(seen, `${place.name} ${state}`))
        await seen.close()
      })
  })
}

export const inLight = (seen: Seen, where: string): Promise<void> => seen.accessible(where)

/** For a sample: `contrast.test.ts` computes the colors of both themes from their tokens. */
export const inBothThemes = (seen: Seen, where: string): Promise<void> => seen.accessibleInBothThemes(where)

export async function atEachWidth(seen: Seen, where: string): Promise<void> {
  await seen.accessible(where)
  assert.deepEqual(await outside(seen.page), [], where)
}
