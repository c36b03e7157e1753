import type { Ctx } from './context.ts'

type Tx = Ctx & Required<Pick<Ctx, 'afterCommit' | 'beforeCommit'>>

/**
 * One verb, one transaction: joins the open one, else opens one. What is registered with `beforeCommit` (audit rows) runs
 * last, in the order of its key, so that two transactions never wait for each other's locks. What is registered with
 * `afterCommit` (wake-ups, caches) runs once, after the commit, and not at all when the transaction rolls back.
 */
export async function inTransaction<T>(ctx: Ctx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { afterCommit, beforeCommit } = ctx
  if (afterCommit !== undefined && beforeCommit !== undefined) return work({ ...ctx, afterCommit, beforeCommit })
  const hooks: (() => void)[] = []
  const result = await ctx.database.transaction(async (db) => {
    const last: { readonly key: string; readonly run: () => Promise<void> }[] = []
    const tx = { ...ctx, db, afterCommit: (hook: () => void) => void hooks.push(hook), beforeCommit: (key: string, run: () => Promise<void>) => void last.push({ key, run }) }
    const given = await work(tx)
    // oxlint-disable-next-line no-await-in-loop -- one transaction has one connection
    for (const { run } of last.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))) await run()
    return given
  })
  for (const hook of hooks) hook()
  return result
}
