import { setTimeout as sleep } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { aDestination, post } from '../../../server/test/stage/fixtures.ts'
import { aReceiver } from '../pictures/receivers.ts'
import { keepTime } from '../pictures/take.ts'
import { Chance, payloadFrom } from '../pictures/senders.ts'
import type { Stage } from '../stage/browser.ts'

/**
 * The live tail of the console under a constant rate of events: the memory that the page has after each full garbage
 * collection, and its nodes. Every other minute a person opens an event, reads it and goes back to the list.
 */

const SAMPLE_MS = 30_000
const STEP_MS = 100
const MIB = 1_048_576
/** The buffer of the tail is full after this; earlier growth is not a leak. */
export const WARM_UP_EVENTS = 6_000
/** The page may grow by this much between the second third and the last one. */
const GROWTH_MAX = 1.1

export type TailOrder = {
  readonly minutes: number
  readonly perSecond: number
  readonly say: (line: string) => void
}

export type Sample = {
  readonly seconds: number
  readonly sent: number
  readonly heapMib: number
  readonly nodes: number
  readonly listeners: number
}

export type Tailed = { readonly samples: readonly Sample[]; readonly faults: readonly string[] }

export async function watchTail(stage: Stage, { minutes, perSecond, say }: TailOrder): Promise<Tailed> {
  const receiver = await aReceiver(
    () => ({ status: 200, body: '{}', afterMs: 5 }),
    () => undefined,
  )
  const ticking = keepTime(stage)
  const seen = await stage.owner()
  const sending = sendSteadily(stage, perSecond)
  try {
    await aDestination(stage.world, { name: 'tailed', url: receiver.url })
    const { page } = seen
    await page.goto(stage.url('events'))
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor()
    const session = await page.context().newCDPSession(page)
    const samples: Sample[] = []
    const began = performance.now()
    const end = began + minutes * 60_000
    for (let round = 0; performance.now() < end; round += 1) {
      await sleep(Math.min(SAMPLE_MS, Math.max(0, end - performance.now())))
      if (round % 4 === 2) await readOne(page)
      const sample = {
        seconds: Math.round((performance.now() - began) / 1_000),
        sent: sending.count(),
        ...(await held(session)),
      }
      samples.push(sample)
      say(lineOf(sample))
    }
    return { samples, faults: [...seen.faults, ...sending.refused()] }
  } finally {
    await sending.stop()
    clearInterval(ticking)
    await seen.page.context().close()
    await receiver.stop()
  }
}

/** Sends `perSecond` events in each second, in small groups, until the caller stops it. */
function sendSteadily(stage: Stage, perSecond: number) {
  const chance = new Chance(50)
  const refused: string[] = []
  const began = performance.now()
  let sent = 0
  const over = { yet: false }
  const one = async (): Promise<void> => {
    const { body } = payloadFrom(chance.of(['stripe', 'shopify', 'checkout']), chance, Date.now())
    const { status } = await post(stage.world.endpoint, body)
    if (status !== 201) refused.push(`the server answered ${status} to an event`)
  }
  const all = async (): Promise<void> => {
    while (!over.yet) {
      const due = Math.min(perSecond, Math.floor(((performance.now() - began) * perSecond) / 1_000) - sent)
      sent += due
      await Promise.all(Array.from({ length: due }, one))
      await sleep(STEP_MS)
    }
  }
  const running = all()
  return {
    count: () => sent,
    refused: () => [...new Set(refused)],
    stop: () => {
      over.yet = true
      return running
    },
  }
}

/** Opens the newest event, looks at two tabs, closes it, and shows the events that arrived meanwhile. */
async function readOne(page: Page): Promise<void> {
  await page.keyboard.press('j')
  await page.getByRole('treeitem').first().waitFor()
  await page.keyboard.press('3')
  await page.getByRole('tab', { name: /^Deliveries/, selected: true }).waitFor()
  await page.keyboard.press('1')
  await page.keyboard.press('Escape')
  await page.getByRole('region', { name: 'Event', exact: true }).waitFor({ state: 'detached' })
  await page.keyboard.press('.')
}

async function held(session: CDPSession): Promise<Pick<Sample, 'heapMib' | 'nodes' | 'listeners'>> {
  // The first one queues finalizers, and the second one collects what they release.
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters')
  return { heapMib: usedSize / MIB, nodes, listeners: jsEventListeners }
}

const lineOf = ({ seconds, sent, heapMib, nodes, listeners }: Sample): string =>
  `${String(seconds).padStart(5)} s  ${String(sent).padStart(6)} events  ${heapMib.toFixed(1).padStart(6)} MiB  ${String(nodes).padStart(6)} nodes  ${String(listeners).padStart(5)} listeners`

/** The growth from the second third of the samples to the last one, as sentences; empty when the page does not grow. */
export function growthOf(samples: readonly Sample[]): readonly string[] {
  const settled = samples.filter(({ sent }) => sent >= WARM_UP_EVENTS)
  const third = Math.floor(settled.length / 3)
  if (third === 0) return []
  return (['heapMib', 'nodes', 'listeners'] as const).flatMap((of) => {
    const [before, after] = [settled.slice(third, 2 * third), settled.slice(-third)].map((part) =>
      middleOf(part.map((sample) => sample[of])),
    )
    return (after ?? 0) > (before ?? 0) * GROWTH_MAX
      ? [`${of} grew from ${(before ?? 0).toFixed(1)} to ${(after ?? 0).toFixed(1)}`]
      : []
  })
}

function middleOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}
