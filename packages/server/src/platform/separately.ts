/** Works on items in order. One that fails stops none of the others; the failures are thrown after the last item. */
export async function separately<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const failures: unknown[] = []
  for (const item of items) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one item after another
      await work(item)
    } catch (cause) {
      failures.push(cause)
    }
  }
  const [first] = failures
  if (failures.length === 1) throw first
  if (failures.length > 1) {
    const said = first instanceof Error ? first.message : String(first)
    throw new AggregateError(failures, `${failures.length} parts failed. The first: ${said}`, { cause: first })
  }
}
