import type { Ctx } from './context.ts'
import { DbError } from './platform/db.ts'

type Tx = Ctx & Required<Pick<Ctx, 'afterCommit' | 'beforeCommit'>>

/**
 * PostgreSQL has ended one of two transactions that waited for each other, or one that waited for the other to commit the same
 * name. Verbs look for the name first, so the next try finds it and refuses.
 */
const LOST_TO_ANOTHER: ReadonlySet<string> = new Set(['40P01', '23505'])
const TRIES = 3

/**
 * One verb, one transaction: joins the open one, otherwise opens one. `beforeCommit` work (audit rows) runs last, in the order
 * of its keys, so that transactions never wait for each other's locks. `afterCommit` work (wake-ups) runs once, after the
 * commit. `work` restarts if a turn of the senders locked the same rows in another order, or another verb took the same name.
 */
export async function inTransaction<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { afterCommit, beforeCommit } = ctx
  if (afterCommit !== undefined && beforeCommit !== undefined) return work({ ...ctx, afterCommit, beforeCommit })
  for (let tries = 1; ; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- a try starts only after the previous one was rolled back
      return await once(ctx, work)
    } catch (error) {
      if (tries === TRIES || !(error instanceof DbError && LOST_TO_ANOTHER.has(error.code))) throw error
    }
  }
}

async function once<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const hooks: (() => void)[] = []
  const result = await ctx.database.transaction(async (db) => {
    const last: { readonly key: string; readonly run: () => Promise<void> }[] = []
    const tx = {
      ...ctx,
      db,
      afterCommit: (hook: () => void) => void hooks.push(hook),
      beforeCommit: (key: string, run: () => Promise<void>) => void last.push({ key, run }),
    }
    const given = await work(tx)
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    for (const { run } of last.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))) await run()
    return given
  })
  for (const hook of hooks) hook()
  return result
}
