import { ServiceError } from '@postroad/sdk/service-error'

export type Progress = { readonly done: number; readonly refused: readonly string[] }
type Running<Item> = {
  readonly items: readonly Item[]
  readonly signal: AbortSignal
  readonly tell: (progress: Progress) => void
}

const TOO_MANY = 429
const WAIT_SECONDS = 2

/**
 * Acts on one item after another. When the server refuses an item, the run stores the sentence and continues. When the
 * server asks for fewer requests, the run waits for the requested time. The run ends when the server does not answer.
 */
export async function runAll<Item>(
  act: (item: Item) => Promise<unknown>,
  { items, signal, tell }: Running<Item>,
): Promise<Progress> {
  let progress: Progress = { done: 0, refused: [] }
  for (const item of items) {
    if (signal.aborted) break
    // oxlint-disable-next-line no-await-in-loop -- one at a time, so that a person can stop the run between two items
    const refusal = await once(() => act(item), signal)
    progress =
      refusal === undefined
        ? { ...progress, done: progress.done + 1 }
        : { ...progress, refused: [...progress.refused, refusal] }
    tell(progress)
  }
  return progress
}

/** The sentence of the refusal; undefined when the action succeeded. */
async function once(act: () => Promise<unknown>, signal: AbortSignal): Promise<string | undefined> {
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- a repetition waits until the server accepts requests again
      await act()
      return undefined
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status === 0) throw error
      if (error.status !== TOO_MANY || signal.aborted) return error.message
      // oxlint-disable-next-line no-await-in-loop -- a repetition waits until the server accepts requests again
      await pause((error.retryAfter ?? WAIT_SECONDS) * 1_000)
    }
  }
}

/** Resolves after the given number of milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
