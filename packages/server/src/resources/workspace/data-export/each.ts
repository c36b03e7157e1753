import { LIMITS } from '@postroad/contract'

type Page = { readonly limit: number; readonly cursor: string | undefined }

/** The items of a list, page after page. */
export async function* each<Answer extends { next_cursor: string | null }, Item>(
  list: (page: Page) => Promise<Answer>,
  itemsOf: (answer: Answer) => readonly Item[],
): AsyncGenerator<Item> {
  for (let cursor: string | undefined; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page needs the cursor of the previous one
    const answer = await list({ limit: LIMITS.listLimitMax, cursor })
    yield* itemsOf(answer)
    if (answer.next_cursor === null) return
    cursor = answer.next_cursor
  }
}
