import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from './statistics.ts'

type Patience = { readonly lookMs: number; readonly patienceMs: number }

/** Looks again and again until it is so, because a server does the work in the background. `what` is a sentence. */
// oxlint-disable-next-line max-params -- the sentence, its check, and the patience
export async function until(
  what: string,
  isSo: () => Promise<boolean>,
  { lookMs, patienceMs }: Patience,
): Promise<void> {
  const end = nowMs() + patienceMs
  // oxlint-disable-next-line no-await-in-loop -- one look after another
  while (!(await isSo())) {
    if (nowMs() > end) throw new Error(`After ${patienceMs / 1_000} s it is not so that ${what}.`)
    // oxlint-disable-next-line no-await-in-loop -- one look after another
    await sleep(lookMs)
  }
}
