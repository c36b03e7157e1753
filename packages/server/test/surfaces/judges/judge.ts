import assert from 'node:assert/strict'
import type { Named } from '../../stage/admin-asking.ts'
import { inEighth, isWhole } from '../../stage/eighths.ts'

type Judged = Pick<Named, 'name'>

/** A promise about routes of the admin API, and how one route proves it. */
export type Judge<Route extends Judged = Named> = {
  /** The promise as a sentence, which is the name of its test. */
  readonly promise: string
  /** The routes that the promise is about; all of them without it. */
  readonly about?: (named: Route) => boolean
  /** Throws if the route breaks the promise. */
  readonly judge: (named: Route) => Promise<void> | void
  /** Prepares the walk, runs it, and then proves something about all of it. */
  readonly around?: (walk: () => Promise<void>, routes: readonly Route[]) => Promise<void>
  /** How many routes it judges at a time; one without it. */
  readonly atOnce?: number
}

/** More faults say nothing new about the cause. */
const SHOWN_MAX = 8

/** Asks every route of this run, and reports every route that breaks the promise. */
export async function judgeAll<Route extends Judged>(
  { about = () => true, judge, around = (walk) => walk(), atOnce = 1 }: Judge<Route>,
  all: readonly Route[],
): Promise<void> {
  const routes = inEighth(all).filter(about)
  if (isWhole) assert.ok(routes.length > 0, 'The promise is about no route.')
  await around(async () => {
    const faults: string[] = []
    await inParallel(routes, atOnce, async (named) => {
      try {
        await judge(named)
      } catch (error) {
        faults.push(`${named.name}: ${error instanceof Error ? error.stack : String(error)}`)
      }
    })
    if (faults.length > 0)
      throw new Error(
        `${faults.length} of ${routes.length} routes break the promise.\n\n${faults.slice(0, SHOWN_MAX).join('\n\n')}`,
      )
  }, routes)
}

// oxlint-disable-next-line max-params -- the items, and how to work on them
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items]
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, next))
}
